import { describe, expect, onTestFinished, test } from "vitest";
import type { Head } from "../../src/database/database.ts";
import { serveAddress } from "../../src/database/postgresql/served-postgresql.ts";
import { silentLog } from "../support/silent-log.ts";
import { deliveryHeads } from "../../src/outbox/queue/delivery-heads.ts";
import { NewMessages } from "../../src/outbox/queue/outbox.ts";
import { ownerOf } from "../../src/outbox/sending/owner.ts";
import { createClaims } from "../../src/outbox/engines/postgresql-claims.ts";
import { deliverOn } from "../support/engine-deliverer.ts";
import { queueOn } from "../support/queue-on-engine.ts";
import { hasPostgresql, openForTest, temporaryAddress } from "../support/temporary-postgresql.ts";
import { until } from "../support/until.ts";

const listener = { onForeignCommit() {}, onSettingsChange() {}, onUpgrade() {} };
const log = silentLog;

/** How a server hears that messages wait. */
type Hears = Partial<Pick<Head, "sql" | "isNotified">>;
/** Its pulse always sees the same. */
const TOLD: Hears = { sql: "SELECT 1" };
/** Nobody tells. */
const LOOKING: Hears = { isNotified: false };

/** A server of a database, with its deliverer. */
async function serve(address: string, to: readonly string[], hears: Hears) {
  const db = await openForTest(address);
  const served = serveAddress(db, Date.now(), log);
  onTestFinished(() => served.end());
  const own = deliverOn(db, to, { claims: createClaims(served.liveServers, served.confirmations) });
  onTestFinished(() => own.deliverer.stop(0));
  own.deliverer.onQueuedForOthers(() => served.notifyOthers());
  const server = { ...own, served, heard: 0 };
  const heads = deliveryHeads(own.deliverer).map((head): Head => {
    if (head.isNotified !== true) return head;
    const onChange = (): void => {
      server.heard += 1;
      head.onChange();
    };
    return { sql: hears.sql ?? head.sql, isNotified: hears.isNotified ?? true, onChange };
  });
  served.watch(listener, heads);
  await served.begin();
  return server;
}

/** Two servers, each the only one that sends to some recipients. */
async function startBoth(hears: Hears) {
  const address = await temporaryAddress();
  const queue = await queueOn(await openForTest(address));
  const to = await queue.recipients(20);
  const one = await serve(address, to, hears);
  const other = await serve(address, to, hears);
  const servers = [one, other].map(({ served }) => served.liveServers);
  await until(() => servers.every((live) => live.list().length === 2));
  await Promise.all([one.settle(), other.settle()]);
  const ids = servers.map(({ self }) => self).toSorted();
  const others = to.filter((id) => ownerOf(id, ids) === other.served.liveServers.self);
  const isSent = (): boolean => others.every((id) => other.carried.some((carried) => carried.to === id));
  return { queue, one, other, others, isSent };
}

describe.skipIf(!hasPostgresql)("messages for a recipient that another server sends to", () => {
  test("go out when that server is told, although its pulse sees nothing", async () => {
    const { queue, one, other, others, isSent } = await startBoth(TOLD);
    const before = [one.heard, other.heard] as const;
    await queue.post(1);
    const messages = new NewMessages();
    const told = { kind: "pigeon", max_spam_score: 100, endpoint_name: "Contact", conditions: null };
    const known = others.map((id) => Object.assign({ id }, told));
    const post = { id: "sub_1", endpointId: queue.endpointId, spamScore: 0 };
    messages.add({ ...post, ipAddress: "", userAgent: "", createdAt: 1 }, known, 1);
    // Again and again, because a server that reads its recipients anew at that moment tells nobody.
    await until(() => {
      one.outbox.announce(messages);
      return other.heard > before[1];
    });
    await until(isSent);
    expect(one.heard).toBe(before[0]);
  });

  test("go out although nobody tells, because its pulse sees them", async () => {
    const { queue, other, isSent } = await startBoth(LOOKING);
    const before = other.heard;
    await queue.post(1);
    await until(() => other.heard > before);
    expect(await until(isSent)).toBe(true);
  });
});
