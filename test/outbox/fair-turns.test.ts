import { describe, expect, test } from "vitest";
import { setTimeout as sleep } from "node:timers/promises";
import type { Database } from "../../src/database/database.ts";
import { AheadShares } from "../../src/outbox/sending/ahead-shares.ts";
import { HEALTHY } from "../../src/outbox/sending/breaker.ts";
import { AHEAD_BYTES, LaneClaims } from "../../src/outbox/sending/lane-claims.ts";
import { Lane } from "../../src/outbox/sending/lane.ts";
import { Destinations } from "../../src/outbox/sending/destinations.ts";
import { RoundDraft } from "../../src/outbox/sending/round-draft.ts";
import { Slots } from "../../src/outbox/sending/slots.ts";
import type { AttemptResult } from "../../src/outbox/sending/transport.ts";
import { WorkspaceOrder } from "../../src/outbox/sending/workspace-order.ts";
import { PIGEON } from "../support/ended-attempt.ts";
import { type Carried, deliverOn } from "../support/engine-deliverer.ts";
import { ENGINES } from "../support/engines.ts";
import { NOON } from "../support/fake-clock.ts";
import { claimsOn, type EngineQueue, queueOn } from "../support/queue-on-engine.ts";
import { ANSWERED } from "../support/webhook-world.ts";

interface Sender {
  readonly queue: EngineQueue;
  readonly to: readonly string[];
}

/** A workspace with recipients. */
async function senderOn(db: Database, name: string, recipients: number): Promise<Sender> {
  const queue = await queueOn(db, `${name}@example.com`);
  return { queue, to: await queue.recipients(recipients) };
}

/** A deliverer over several workspaces, whose recipients answer when they are told to. */
function deliverFor(
  db: Database,
  senders: readonly Sender[],
  limits: { total: number; perDestination: number },
) {
  const held: { readonly of: Sender; readonly end: () => void }[] = [];
  const senderOf = ({ to }: Carried): Sender => senders.find((sender) => sender.to.includes(to))!;
  let quick: Sender | null = null;
  const world = deliverOn(
    db,
    senders.flatMap(({ to }) => to),
    {
      policy: { limits: { ...limits, perRecipient: 4 } },
      answer: (carried) => {
        const of = senderOf(carried);
        if (of === quick) return ANSWERED;
        const { promise, resolve } = Promise.withResolvers<AttemptResult>();
        held.push({ of, end: () => resolve(ANSWERED) });
        return promise;
      },
    },
  );
  return {
    world,
    held,
    /** This workspace's recipients answer at once. */
    answerAtOnce: (sender: Sender) => void (quick = sender),
    underWay: (sender: Sender) => held.filter(({ of }) => of === sender).length,
    begun: (sender: Sender) => world.carried.filter((carried) => senderOf(carried) === sender).length,
    end: (sender: Sender | undefined) => {
      const index = held.findIndex(({ of }) => sender === undefined || of === sender);
      for (const { end } of held.splice(index, 1)) end();
    },
    async [Symbol.asyncDispose]() {
      const stopped = world[Symbol.asyncDispose]();
      for (const { end } of held) end();
      await stopped;
    },
  };
}

/** Long enough for a deliverer that would begin more to have begun it. */
const QUIET_MS = 150;

describe.each(ENGINES)("workspaces that share the slots on $name", ({ temporary }) => {
  test("leave one free for a workspace that has none, which gets it at once, time after time", async () => {
    const db = await temporary();
    const greedy = await senderOn(db, "greedy", 10);
    const other = await senderOn(db, "other", 1);
    await using lanes = deliverFor(db, [greedy, other], { total: 8, perDestination: 8 });
    lanes.answerAtOnce(other);
    await greedy.queue.post(30);
    lanes.world.deliverer.reload();
    await expect.poll(() => lanes.underWay(greedy)).toBe(7);
    await sleep(QUIET_MS);
    expect(lanes.underWay(greedy)).toBe(7);
    await other.queue.post(20);
    lanes.world.deliverer.reload();
    await expect.poll(() => lanes.begun(other)).toBe(20);
    expect(lanes.begun(greedy)).toBe(7);
  });

  test("have half of them at most while another one waits, and all but one when none does", async () => {
    const db = await temporary();
    const greedy = await senderOn(db, "greedy", 10);
    const other = await senderOn(db, "other", 10);
    await greedy.queue.post(10);
    await other.queue.post(10);
    await using lanes = deliverFor(db, [greedy, other], { total: 8, perDestination: 8 });
    await expect.poll(() => lanes.held.length).toBe(7);
    expect([lanes.underWay(greedy), lanes.underWay(other)].toSorted((one, two) => one - two)).toEqual([3, 4]);
    for (let index = 0; index < 40; index += 1) {
      const before = lanes.world.carried.length;
      lanes.end(index % 2 === 0 ? greedy : other);
      await expect.poll(() => lanes.world.carried.length).toBeGreaterThan(before);
      expect(lanes.underWay(greedy)).toBeLessThanOrEqual(4);
      expect(lanes.underWay(other)).toBeLessThanOrEqual(4);
    }
  });

  test("give up what they have beyond that as their attempts end, to one that waits", async () => {
    const db = await temporary();
    const greedy = await senderOn(db, "greedy", 10);
    const other = await senderOn(db, "other", 10);
    await using lanes = deliverFor(db, [greedy, other], { total: 8, perDestination: 8 });
    await greedy.queue.post(10);
    lanes.world.deliverer.reload();
    await expect.poll(() => lanes.underWay(greedy)).toBe(7);
    await other.queue.post(10);
    lanes.world.deliverer.reload();
    await expect.poll(() => lanes.underWay(other)).toBe(1);
    for (let freed = 0; freed < 3; freed += 1) {
      lanes.end(greedy);
      await sleep(QUIET_MS / 3);
    }
    const underWay = () => [lanes.underWay(greedy), lanes.underWay(other)];
    await expect.poll(underWay).toEqual([4, 3]);
    await sleep(QUIET_MS);
    expect(underWay()).toEqual([4, 3]);
  });

  test("share a destination of its own limit in the same way", async () => {
    const db = await temporary();
    const greedy = await senderOn(db, "greedy", 10);
    const other = await senderOn(db, "other", 1);
    await using lanes = deliverFor(db, [greedy, other], { total: 64, perDestination: 4 });
    lanes.answerAtOnce(other);
    await greedy.queue.post(3);
    lanes.world.deliverer.reload();
    await expect.poll(() => lanes.underWay(greedy)).toBe(3);
    await other.queue.post(5);
    lanes.world.deliverer.reload();
    await expect.poll(() => lanes.begun(other)).toBe(5);
    expect(lanes.begun(greedy)).toBe(3);
  });

  test.each([1, 2])("take turns, however many recipients one of them has: %d slots", async (total) => {
    const db = await temporary();
    const greedy = await senderOn(db, "greedy", 20);
    const others = [await senderOn(db, "other", 1), await senderOn(db, "third", 1)];
    for (const { queue } of [greedy, ...others]) await queue.post(6);
    await using lanes = deliverFor(db, [greedy, ...others], { total, perDestination: total });
    await expect.poll(() => lanes.held.length).toBe(total);
    for (let ended = 0; ended < 11; ended += 1) {
      lanes.end(undefined);
      await expect.poll(() => lanes.held.length).toBe(total);
    }
    const begun = [greedy, ...others].map((sender) => lanes.begun(sender));
    expect(Math.max(...begun) - Math.min(...begun)).toBeLessThanOrEqual(1);
  });

  test("of which there is one only have all", async () => {
    const db = await temporary();
    const only = await senderOn(db, "only", 3);
    await only.queue.post(4);
    await using lanes = deliverFor(db, [only], { total: 8, perDestination: 8 });
    await expect.poll(() => lanes.held.length).toBe(8);
  });

  test("begin half of a minute's messages each", async () => {
    const db = await temporary();
    const greedy = await senderOn(db, "greedy", 9);
    const other = await senderOn(db, "other", 1);
    const pace = { perMinute: 6, perRecipientPerHour: 30, perRecipientInWindow: { most: 10, seconds: 600 } };
    await greedy.queue.post(2);
    await using world = deliverOn(db, [...greedy.to, ...other.to], { policy: { pace } });
    const begun = ({ to }: Sender): number =>
      world.carried.filter((carried) => to.includes(carried.to)).length;
    await world.settle();
    expect(begun(greedy)).toBe(3);
    await other.queue.post(2);
    await world.settle();
    expect([begun(greedy), begun(other)]).toEqual([3, 2]);
    for (let minute = 0; minute < 6; minute += 1) await world.settle(60_000);
    expect([begun(greedy), begun(other)]).toEqual([18, 2]);
  });

  test("have half of what is claimed ahead, in number and in bytes", async () => {
    const db = await temporary();
    const senders = [await senderOn(db, "greedy", 4), await senderOn(db, "other", 1)];
    const large = "é".repeat(32 * 1024);
    for (const { queue } of senders) await queue.post(70, NOON, large);
    const [greedy = [], other = []] = senders.map(({ to, queue }, index) =>
      to.map((id) => laneOf(id, queue.endpointId, `ws_${index}`)),
    );
    const lanes = [...greedy, ...other];
    const draft = new RoundDraft(new Slots([], true));
    const quick = new Map(lanes.map((lane) => [lane, 1000]));
    const claims = new LaneClaims(claimsOn(db), new WorkspaceOrder());
    await db.relaxedTransaction(() => claims.claimAhead(draft, lanes, quick, NOON));
    const aheadOf = (some: readonly Lane[]) => some.flatMap((lane) => draft.ahead.get(lane) ?? []);
    const bytesOf = (some: readonly Lane[]): number =>
      aheadOf(some).reduce((bytes, { body }) => bytes + Buffer.byteLength(body), 0);
    for (const some of [greedy, other]) {
      expect(bytesOf(some)).toBeGreaterThan(AHEAD_BYTES / 4);
      expect(bytesOf(some)).toBeLessThanOrEqual(AHEAD_BYTES / 2);
    }
  });
});

test("one workspace has half of the number that is claimed ahead, and leaves one of the rest to others", () => {
  const lanes = ["ws_1", "ws_2", "ws_3"].map((id) => laneOf(`wh_${id}`, "ep_1", id));
  const rooms = (isShared: boolean): number[] => {
    const shares = new AheadShares(lanes, { deliveries: 10, bytes: 100 }, isShared);
    return lanes.map((lane) => {
      const room = shares.room(lane);
      shares.take(lane, room);
      return room;
    });
  };
  expect(rooms(true)).toEqual([5, 4, 1]);
  expect(rooms(false)).toEqual([10, 0, 0]);
});

/** A recipient in the deliverer's memory, for which messages wait. */
function laneOf(id: string, endpointId: string, workspaceId: string): Lane {
  const is = { state: "enabled", breaker: HEALTHY, goneAt: null, failingSince: null, refusals: 0 } as const;
  const recipient = { id, kind: "pigeon", endpointId, workspaceId, maxSpamScore: 100, ...is };
  const route = { destination: "loft", gatherSeconds: null, send: () => Promise.resolve(ANSWERED) };
  const parts = { transport: PIGEON, route, destinations: new Destinations(), rate: null };
  const lane = new Lane({ ...recipient, conditions: [], confirmedAt: NOON, createdAt: NOON }, parts, NOON);
  lane.follow({ breaker: HEALTHY, dueAt: NOON });
  return lane;
}
