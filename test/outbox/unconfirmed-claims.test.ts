import { beforeEach, expect, test } from "vitest";
import type { SafeSnapshot } from "../../src/database/confirmations.ts";
import { listParameter } from "../../src/database/list-parameter.ts";
import { all, text } from "../../src/database/steps.ts";
import { createClaims } from "../../src/outbox/engines/postgresql-claims.ts";
import type { DeliveryPolicy } from "../../src/outbox/sending/transport.ts";
import { deliverOn } from "../support/engine-deliverer.ts";
import { type EngineQueue, queueOn } from "../support/queue-on-engine.ts";
import { hasPostgresql, temporaryPostgresql } from "../support/temporary-postgresql.ts";
import { until } from "../support/until.ts";

const PACE = { perMinute: 60, perRecipientPerHour: 60, perRecipientInWindow: { most: 2, seconds: 600 } };
const SNAPSHOT_SQL = "SELECT pg_current_snapshot()::text AS snapshot";
const LATER_MS = 5000;

let queue: EngineQueue;

beforeEach(async () => {
  if (hasPostgresql) queue = await queueOn(await temporaryPostgresql());
});

/** What everybody sees now, which the standby is said to have. */
async function snapshotNow(): Promise<SafeSnapshot> {
  const rows = await queue.db.read(() => all(text<{ snapshot: string }>(SNAPSHOT_SQL)));
  return rows[0]!.snapshot;
}

interface Standby {
  safe: SafeSnapshot | null;
  /** How often it was asked for. */
  asked?: number;
}

/** A deliverer that has lost its standby, which had everything of that snapshot; null is a standby that is there. */
function deliver(to: readonly string[], standby: Standby, policy?: Partial<DeliveryPolicy>) {
  const servers = { self: "srv_1", list: () => ["srv_1"] };
  const confirm = async (): Promise<SafeSnapshot | null> => {
    standby.asked = (standby.asked ?? 0) + 1;
    return standby.safe;
  };
  const claims = createClaims(servers, { confirm });
  return deliverOn(queue.db, to, { claims, ...(policy && { policy }) });
}

const submissionsOf = async (messages: readonly string[]) => {
  const sql = "SELECT submission_id AS id FROM delivery WHERE id = ANY (ARRAY(SELECT key FROM json_each(?)))";
  const rows = await queue.db.read(() => all(text<{ id: string }>(sql, listParameter(messages))));
  return rows.map(({ id }) => id).toSorted();
};

test.skipIf(!hasPostgresql)(
  "a fast recipient gets what the standby has, and the rest once when the standby is back",
  async () => {
    const to = await queue.recipients(2);
    const safe = await queue.post(150);
    const standby: Standby = { safe: await snapshotNow() };
    const unsafe = await queue.post(150);
    await queue.gatherInOneRow();
    await using world = deliver(to, standby);
    await world.settle();
    const carried = () => world.carried.map(({ id }) => id);
    expect(await submissionsOf(carried())).toEqual([...safe, ...safe].toSorted());
    expect(await queue.states()).toEqual({ delivered: 300, pending: 300 });

    standby.safe = null;
    await world.settle(LATER_MS);
    expect(await queue.states()).toEqual({ delivered: 600 });
    expect(new Set(carried()).size).toBe(600);
    expect(await submissionsOf(carried())).toEqual([...safe, ...safe, ...unsafe, ...unsafe].toSorted());
    const attempts = "SELECT DISTINCT attempts FROM delivery";
    expect(await queue.db.read(() => all(text(attempts)))).toEqual([{ attempts: 1 }]);
  },
);

test.skipIf(!hasPostgresql)("a summary waits whole if one of its messages must wait", async () => {
  const [to = ""] = await queue.recipients(1);
  const standby: Standby = { safe: null };
  await queue.post(4);
  await using world = deliver([to], standby, { pace: PACE });
  await world.settle();
  expect(world.carried.map(({ count }) => count)).toEqual([1, 1]);
  standby.safe = await snapshotNow();
  await queue.post(1, world.clock.now());
  await world.settle(600_000);
  expect(await queue.states()).toEqual({ delivered: 2, pending: 3 });

  standby.safe = null;
  await world.settle(LATER_MS);
  expect(world.carried.slice(2)).toMatchObject([{ count: 3, bodies: 3 }]);
  expect(await queue.states()).toEqual({ delivered: 5 });
});

test.skipIf(!hasPostgresql)("nothing is sent while it cannot be found out what must wait", async () => {
  const to = await queue.recipients(1);
  await queue.post(3);
  const standby: Standby = { safe: "no snapshot" };
  await using world = deliver(to, standby);
  await until(() => (standby.asked ?? 0) >= 3);
  expect(world.carried).toEqual([]);
  standby.safe = null;
  await until(() => world.carried.length === 3);
});
