import { describe, expect, test } from "vitest";
import type { Database } from "../../src/database/database.ts";
import { createPacedClaim } from "../../src/outbox/sending/paced-claims.ts";
import { ENGINES } from "../support/engines.ts";
import { NOON } from "../support/fake-clock.ts";
import { claimsOn, erase, queueOn } from "../support/queue-on-engine.ts";
import { HOUR_MS } from "../../src/foundation/time-units.ts";

const PACE = { perMinute: 60, perRecipientPerHour: 30, perRecipientInWindow: { most: 10, seconds: 600 } };

function claimPaced(db: Database, recipientId: string, now: number) {
  const recipient = { recipientId, pace: PACE, gatherSeconds: 3600 };
  return db.relaxedTransaction(() => createPacedClaim(claimsOn(db))(recipient, 2, now));
}

describe.each(ENGINES)("a summary of which nothing was sent, on $name", ({ temporary }) => {
  async function summaryOf(count: number) {
    const db = await temporary();
    const queue = await queueOn(db);
    const [to = ""] = await queue.recipients(1);
    const posted = await queue.post(count);
    expect(await claimPaced(db, to, NOON)).toEqual([]);
    const claimed = await claimPaced(db, to, NOON + HOUR_MS);
    expect(claimed).toMatchObject([{ attempt: 1 }]);
    expect(await queue.states()).toEqual({ sending: count });
    const giveBack = () => db.relaxedTransaction(() => claimsOn(db).giveBack(claimed));
    return { db, queue, to, posted, claimed, giveBack };
  }

  test("waits again with all of its messages, and then goes at once as it was, without what came since", async () => {
    const { db, queue, to, claimed, giveBack } = await summaryOf(3);
    await giveBack();
    expect(await queue.states()).toEqual({ pending: 3 });
    await queue.post(1, NOON + HOUR_MS);
    const now = NOON + HOUR_MS + 5000;
    expect(claimed).toHaveLength(1);
    expect(await claimPaced(db, to, now)).toEqual([{ ...claimed[0], claimedAt: now }]);
    expect(await queue.states()).toEqual({ sending: 3, pending: 1 });
  });

  test("loses no message if the submission of its first one was deleted meanwhile", async () => {
    const { db, queue, to, posted, giveBack } = await summaryOf(3);
    await erase(db, posted[0]!);
    await giveBack();
    expect(await queue.states()).toEqual({ pending: 2 });
    await claimPaced(db, to, NOON + HOUR_MS);
    expect(await claimPaced(db, to, NOON + 2 * HOUR_MS)).toMatchObject([{ memberIds: [expect.anything()] }]);
  });

  test("keeps its messages if it was claimed for another attempt by then", async () => {
    const { db, queue, claimed } = await summaryOf(3);
    const late = { ...claimed[0]!, attempt: 0 };
    await db.relaxedTransaction(() => claimsOn(db).giveBack([late]));
    expect(await queue.states()).toEqual({ sending: 3 });
  });
});
