import { run, type Steps, text } from "../../database/steps.ts";
import { AheadShares } from "./ahead-shares.ts";
import type { ClaimedDelivery } from "./claimed-delivery.ts";
import type { Claims } from "./claims.ts";
import { isProbed, type Lane } from "./lane.ts";
import { createPacedClaim, type PacedClaim } from "./paced-claims.ts";
import type { RoundDraft } from "./round-draft.ts";
import type { Portion } from "./slots.ts";
import type { WorkspaceOrder } from "./workspace-order.ts";
import { longestDelayMs } from "./retry-schedule.ts";
import { HOUR_MS } from "../../foundation/time-units.ts";

/** No delivery is planned further ahead than this, unless its schedule has a longer delay. */
const FURTHEST_PLAN_MS = 36 * HOUR_MS;
/** The limits on deliveries that are claimed ahead. */
interface AheadLimits {
  /** The largest number for each quick answer that the recipient gave since the last claim. */
  readonly perAnswer: number;
  /** The largest number for one recipient. */
  readonly perRecipient: number;
  readonly total: number;
}

const AHEAD: AheadLimits = { perAnswer: 2, perRecipient: 64, total: 256 };
/** Over a network a claim takes longer, and attempts go on meanwhile. */
const AHEAD_OVER_NETWORK: AheadLimits = { perAnswer: 8, perRecipient: 512, total: 1024 };
/** The largest number of UTF-8 bytes of all bodies claimed ahead: 4 KiB for each of the 1,024 deliveries of that total. */
export const AHEAD_BYTES = 4 * 1024 * 1024;

export const PULL_FORWARD_SQL = `UPDATE delivery SET due_at = ?
  WHERE recipient_id = ? AND state = 'pending' AND lead_id IS NULL AND due_at > ?`;

/** If another server is taking the messages of a recipient at this moment, the recipient is looked at again after this time. */
const PASSED_OVER_MS = 25;

/** The number of deliveries that a lane may claim. */
interface Share {
  readonly lane: Lane;
  readonly limit: number;
}

/**
 * Claims the deliveries of a round, for all lanes in few statements. Runs inside the transaction of the round; memory is changed in the
 * draft alone.
 */
export class LaneClaims {
  readonly #claims: Claims;
  readonly #claimPaced: PacedClaim;
  readonly #workspaceOrder: WorkspaceOrder;

  constructor(claims: Claims, workspaceOrder: WorkspaceOrder) {
    this.#claims = claims;
    this.#workspaceOrder = workspaceOrder;
    this.#claimPaced = createPacedClaim(claims);
  }

  /**
   * Claims up to `most` deliveries that may be sent now. If several workspaces wait, each first gets up to half of the slots; what is left
   * goes to any of them.
   */
  *claim(draft: RoundDraft, lanes: readonly Lane[], most: number, now: number): Steps<void> {
    const ready = lanes.filter((lane) => lane.readyAt(draft.planOf(lane)) <= now);
    if (new Set(ready.map(({ workspaceId }) => workspaceId)).size > 1)
      yield* this.#claimPortion(draft, ready, { portion: "half", most }, now);
    yield* this.#claimPortion(draft, ready, { portion: "most", most }, now);
  }

  /** Claims in rounds: slots that a lane did not need go to the next lanes. */
  *#claimPortion(draft: RoundDraft, lanes: readonly Lane[], bounds: Bounds, now: number): Steps<void> {
    let waiting = lanes;
    for (let areSlotsLeft = true; areSlotsLeft;) {
      const shares = shareOut(draft, this.#workspaceOrder.inOrder(waiting, draft.slots), bounds, now);
      if (shares.length === 0) return;
      areSlotsLeft = yield* this.#takeShares(draft, shares, now);
      const asked = new Set(shares.map(({ lane }) => lane));
      waiting = waiting.filter((lane) => !asked.has(lane));
    }
  }

  /**
   * Claims more for recipients that answer so fast that a transaction for each delivery would cost too much.
   *
   * @param quick how many quick answers each of them gave since the last claim.
   */
  *claimAhead(
    draft: RoundDraft,
    lanes: readonly Lane[],
    quick: ReadonlyMap<Lane, number>,
    now: number,
  ): Steps<void> {
    const due = lanes.filter((lane) => lane.readyAt(draft.planOf(lane)) <= now);
    const { perAnswer, perRecipient, total } = this.#claims.isShared ? AHEAD_OVER_NETWORK : AHEAD;
    const bounds = { deliveries: total, bytes: AHEAD_BYTES };
    const ahead = new AheadShares(lanes, bounds, draft.slots.isShared);
    const shares: Share[] = [];
    for (const lane of due) {
      // If other lanes wait for the same slots, nothing is claimed ahead, so that each free slot goes to the next lane in turn.
      const isAlone = due.length === 1 || lane.sharedSlots(draft.slots, "half", now) > 0;
      const wanted = isAlone ? lane.aheadWanted(draft.planOf(lane), perAnswer * (quick.get(lane) ?? 0)) : 0;
      const limit = Math.min(wanted, perRecipient - lane.aheadCount, ahead.room(lane));
      if (limit <= 0) continue;
      ahead.take(lane, limit);
      shares.push({ lane, limit });
    }
    if (shares.length === 0) return;
    const wants = shares.map((share) => ({ ...toWant(share), bytes: ahead.bytesFor(share.lane) }));
    const claimed = yield* this.#claims.claimAhead(wants, now);
    const short: Lane[] = [];
    for (const { lane, limit } of shares) {
      const deliveries = claimed.get(lane.recipientId) ?? [];
      draft.ahead.set(lane, deliveries);
      if (deliveries.length < limit) short.push(lane);
    }
    yield* this.readDue(draft, short, now);
  }

  /** Plans lanes by when their earliest deliveries are due in the database. */
  *readDue(draft: RoundDraft, lanes: readonly Lane[], now: number): Steps<void> {
    if (lanes.length === 0) return;
    const dueById = yield* this.#claims.earliestDue(lanes.map(({ recipientId }) => recipientId));
    for (const lane of lanes) {
      const due = dueById.get(lane.recipientId) ?? null;
      // A later time was planned by a clock that was ahead.
      const furthest = now + Math.max(FURTHEST_PLAN_MS, longestDelayMs(lane.transport.policy));
      draft.planFrom(lane, due === null ? null : Math.min(due, furthest));
      if (due !== null && due > furthest)
        yield* run(text(PULL_FORWARD_SQL, furthest, lane.recipientId, furthest));
    }
  }

  /** Claims the shares of some lanes. Returns whether slots are left that other lanes may need. */
  *#takeShares(draft: RoundDraft, shares: readonly Share[], now: number): Steps<boolean> {
    const plain = shares.filter(({ lane }) => lane.rate === null && !isProbed(draft.planOf(lane)));
    const claimed = plain.length === 0 ? null : yield* this.#claims.claimDue(plain.map(toWant), now);
    const short: Lane[] = [];
    const passedOver: Lane[] = [];
    let areSlotsLeft = false;
    for (const share of shares) {
      const { lane, limit } = share;
      const deliveries = claimed?.get(lane.recipientId) ?? (yield* this.#takeOne(draft, share, now));
      draft.slots.take(lane.slotNames, deliveries.length - limit);
      // If the limit was reached, more deliveries are probably due; the next claim will show.
      if (isProbed(draft.planOf(lane)) || deliveries.length < limit) short.push(lane);
      areSlotsLeft ||= deliveries.length < limit;
      if (deliveries.length === 0 && claimed?.has(lane.recipientId) === true) passedOver.push(lane);
      draft.begin(lane, deliveries, now);
    }
    yield* this.readDue(draft, short, now);
    for (const lane of passedOver) draft.planAfter(lane, now + PASSED_OVER_MS);
    return areSlotsLeft;
  }

  *#takeOne(draft: RoundDraft, { lane, limit }: Share, now: number): Steps<readonly ClaimedDelivery[]> {
    const { recipientId, workspaceId, rate, route, transport } = lane;
    const { pace } = transport.policy;
    if (rate === null || pace === null) return yield* this.#claims.claimProbe(recipientId, now);
    const most = Math.min(limit, draft.leftOf(rate, workspaceId, now));
    const { gatherSeconds } = route;
    return most > 0 ? yield* this.#claimPaced({ recipientId, pace, gatherSeconds }, most, now) : [];
  }
}

interface Bounds {
  readonly portion: Portion;
  /** The largest number of deliveries in the whole round. */
  readonly most: number;
}

/** Takes slots for the lanes that may send now, and returns each lane's share. */
function shareOut(
  draft: RoundDraft,
  lanes: readonly Lane[],
  { portion, most }: Bounds,
  now: number,
): Share[] {
  const shares: Share[] = [];
  let left = most - draft.sendings.length;
  for (const lane of lanes) {
    const plan = draft.planOf(lane);
    if (lane.readyAt(plan) > now) continue;
    const limit = Math.min(lane.capacity(draft.slots, portion, now, plan), left);
    if (limit <= 0) continue;
    draft.slots.take(lane.slotNames, limit);
    left -= limit;
    shares.push({ lane, limit });
  }
  return shares;
}

function toWant({ lane: { recipientId }, limit }: Share) {
  return { recipientId, limit };
}
