import { describe, expect, test } from "vitest";
import { type Database, query } from "../../src/database/database.ts";
import { run } from "../../src/database/steps.ts";
import { HEALTHY } from "../../src/outbox/sending/breaker.ts";
import { ALONE, type Claim, type ClaimedDelivery } from "../../src/outbox/sending/claimed-delivery.ts";
import type { Claims } from "../../src/outbox/sending/claims.ts";
import { OwnClaims } from "../../src/outbox/sending/own-claims.ts";
import { AHEAD_BYTES, LaneClaims } from "../../src/outbox/sending/lane-claims.ts";
import { Lane } from "../../src/outbox/sending/lane.ts";
import { Destinations } from "../../src/outbox/sending/destinations.ts";
import { RoundDraft } from "../../src/outbox/sending/round-draft.ts";
import { Slots } from "../../src/outbox/sending/slots.ts";
import { spreadOutbox } from "../../src/outbox/sending/spread-outbox.ts";
import { WorkspaceOrder } from "../../src/outbox/sending/workspace-order.ts";
import type { EndedAttempt, Route } from "../../src/outbox/sending/transport.ts";
import { PIGEON } from "../support/ended-attempt.ts";
import { deliverOn } from "../support/engine-deliverer.ts";
import { ENGINES, rowsOf } from "../support/engines.ts";
import { NOON } from "../support/fake-clock.ts";
import { claimsOn, queueOn } from "../support/queue-on-engine.ts";
import { hasPostgresql, temporaryPostgresql } from "../support/temporary-postgresql.ts";
import { ANSWERED } from "../support/webhook-world.ts";

/** What 64 KiB may have at most of a letter that takes two bytes. */
const LARGE = "é".repeat(32 * 1024);
/** Enough of them that what is claimed ahead by number would be several times what is allowed. */
const MESSAGES = 130;
const RECIPIENTS = 4;
/** More than the recipients need, so that deliveries are claimed ahead for all of them. */
const LIMITS = { total: 32, perDestination: 32, perRecipient: 4 };

/** A recipient, and what is claimed for it, as the submissions that it tells of. */
async function oneRecipient(db: Database) {
  const queue = await queueOn(db);
  const [to = ""] = await queue.recipients(1);
  const claims = claimsOn(db);
  return {
    queue,
    ahead: async (bytes: number, limit = 9) => {
      const wants = [{ recipientId: to, limit, bytes }];
      return told(await db.relaxedTransaction(() => claims.claimAhead(wants, NOON)));
    },
    due: async (limit: number) =>
      told(await db.relaxedTransaction(() => claims.claimDue([{ recipientId: to, limit }], NOON))),
  };
}

type Claimed = ReadonlyMap<string, readonly ClaimedDelivery[]>;

function told(claimed: Claimed): string[] {
  return [...claimed.values()]
    .flat()
    .map(({ body }) => (JSON.parse(body) as { submission: { id: string } }).submission.id);
}

/** Of the body of the first message. */
async function bytesOfFirst(db: Database): Promise<number> {
  const [first] = await rowsOf<{ readonly body: string }>(
    db,
    "SELECT event_head || data || event_tail AS body FROM submission ORDER BY id LIMIT 1",
  );
  return Buffer.byteLength(first?.body ?? "");
}

const ALREADY_CLAIMED = {
  id: "msg_1",
  recipientId: "wh_1",
  attempt: 1,
  spent: 0,
  interruptions: 0,
  isProbe: false,
  claimedAt: NOON,
  ...ALONE,
};

/** A recipient in the deliverer's memory, for which messages wait. */
function laneOf(id: string, endpointId: string): Lane {
  const is = { state: "enabled", breaker: HEALTHY, goneAt: null, failingSince: null, refusals: 0 } as const;
  const recipient = { id, kind: "pigeon", endpointId, workspaceId: "ws_1", maxSpamScore: 100, ...is };
  const route: Route = { destination: "loft", gatherSeconds: null, send: () => Promise.resolve(ANSWERED) };
  const parts = { transport: PIGEON, route, destinations: new Destinations(), rate: null };
  const lane = new Lane({ ...recipient, conditions: [], confirmedAt: NOON, createdAt: NOON }, parts, NOON);
  lane.follow({ breaker: HEALTHY, dueAt: NOON });
  return lane;
}

/** The same claims, and how many bytes were claimed ahead and not sent at most. */
function weigh(claims: Claims) {
  const waiting = new Map<string, number>();
  let most = 0;
  let kept = 0;
  return {
    /** How many bodies were left in what was recorded. */
    kept: () => kept,
    most: () => most,
    begin: (id: string) => waiting.delete(id),
    claims: {
      ...claims,
      *claimAhead(...wanted: Parameters<Claims["claimAhead"]>) {
        const claimed: Claimed = yield* claims.claimAhead(...wanted);
        for (const { id, body } of [...claimed.values()].flat()) waiting.set(id, Buffer.byteLength(body));
        most = Math.max(
          most,
          [...waiting.values()].reduce((sum, bytes) => sum + bytes, 0),
        );
        return claimed;
      },
      *finish(ended: readonly EndedAttempt[], now: number) {
        kept += ended.filter(({ delivery }) => "body" in delivery).length;
        return yield* claims.finish(ended, now);
      },
      *giveBack(deliveries: readonly Claim[]) {
        yield* claims.giveBack(deliveries);
        for (const { id } of deliveries) waiting.delete(id);
      },
    } satisfies Claims,
  };
}

test("bodies that were claimed ahead stay in memory no longer than it takes to decide that they are not sent", () => {
  const claims = new OwnClaims(true);
  const delivery = { ...ALREADY_CLAIMED, body: LARGE };
  claims.return([delivery]);
  expect(claims.returning).toEqual([expect.objectContaining({ id: delivery.id, attempt: 1 })]);
  expect(JSON.stringify(claims.returning)).not.toContain(LARGE);
});

describe.each(ENGINES)("bodies that are claimed ahead on $name", ({ temporary }) => {
  test.each(["each in a row", "all in one row"])(
    "for many recipients are bounded in bytes, and all are sent: %s",
    async (how) => {
      const db = await temporary();
      const queue = await queueOn(db);
      const to = await queue.recipients(RECIPIENTS);
      await queue.post(MESSAGES, NOON, LARGE);
      if (how === "all in one row") await queue.gatherInOneRow();
      const { most, kept, begin, claims } = weigh(claimsOn(db));
      await using one = deliverOn(db, to, {
        claims,
        policy: { limits: LIMITS },
        answer: ({ id }) => (begin(id), ANSWERED),
      });
      await one.settle();
      expect(await queue.states()).toEqual({ delivered: MESSAGES * RECIPIENTS });
      expect(one.carried).toHaveLength(MESSAGES * RECIPIENTS);
      expect(most()).toBeGreaterThan(AHEAD_BYTES / 4);
      expect(most()).toBeLessThanOrEqual(AHEAD_BYTES);
      expect(kept()).toBe(0);
    },
  );

  test("share what is left by those that wait already", async () => {
    const db = await temporary();
    const queue = await queueOn(db);
    const lanes = (await queue.recipients(2)).map((id) => laneOf(id, queue.endpointId));
    await queue.post(5);
    const body = "é".repeat(AHEAD_BYTES / 2 - (await bytesOfFirst(db)));
    lanes[0]?.putAhead([{ ...ALREADY_CLAIMED, body }]);
    const draft = new RoundDraft(new Slots());
    const quick = new Map(lanes.map((lane) => [lane, 9]));
    await db.relaxedTransaction(() =>
      new LaneClaims(claimsOn(db), new WorkspaceOrder()).claimAhead(draft, lanes, quick, NOON),
    );
    expect(lanes.map((lane) => draft.ahead.get(lane)?.length)).toEqual([1, 1]);
  });

  test("have none if a defect has lost them, and are claimed to be recorded as failed", async () => {
    const db = await temporary();
    const queue = await queueOn(db);
    const [to = ""] = await queue.recipients(1);
    await queue.post(1);
    await spreadOutbox(db, NOON);
    await db.transaction(() => run(query.updateTable("submission").set({ event_head: null })));
    const wants = [{ recipientId: to, limit: 9, bytes: 1 }];
    const claimed = await db.relaxedTransaction(() => claimsOn(db).claimAhead(wants, NOON));
    const lane = laneOf(to, queue.endpointId);
    lane.putAhead(claimed.get(to) ?? []);
    expect([lane.aheadCount, lane.aheadBytes]).toEqual([1, 0]);
  });

  test.each(["due", "queued", "due and queued"])(
    "fit to the byte, and what does not fit is sent before what was queued after it: %s",
    async (how) => {
      const db = await temporary();
      const { queue, ahead, due } = await oneRecipient(db);
      const posted = [...(await queue.post(1, NOON - 4)), ...(await queue.post(1, NOON - 3))];
      posted.push(...(await queue.post(1, NOON - 2, LARGE)));
      if (how === "due and queued") await spreadOutbox(db, NOON);
      posted.push(...(await queue.post(1, NOON - 1)));
      if (how === "due") await spreadOutbox(db, NOON);
      const bytes = await bytesOfFirst(db);
      expect(await ahead(bytes - 1)).toEqual([]);
      expect(await ahead(2 * bytes - 1)).toEqual(posted.slice(0, 1));
      expect(await ahead(bytes)).toEqual(posted.slice(1, 2));
      expect(await ahead(LARGE.length + 1)).toEqual([]);
      expect(await due(1)).toEqual(posted.slice(2, 3));
      expect(await ahead(bytes)).toEqual(posted.slice(3));
    },
  );
});

describe.runIf(hasPostgresql)("a row of the outbox on PostgreSQL", () => {
  test("that has more messages than are wanted is not claimed ahead, nor those after it", async () => {
    const db = await temporaryPostgresql();
    const { queue, ahead, due } = await oneRecipient(db);
    const posted = await queue.post(3);
    await queue.gatherInOneRow();
    posted.push(...(await queue.post(1)));
    expect(await ahead(1e6, 2)).toEqual([]);
    expect(await rowsOf(db, "SELECT 1 FROM outbox WHERE claimed_by IS NULL")).toHaveLength(2);
    expect(await ahead(1e6, 3)).toEqual(posted.slice(0, 3));
    await queue.post(3);
    expect(await due(1)).toEqual(posted.slice(3));
  });
});
