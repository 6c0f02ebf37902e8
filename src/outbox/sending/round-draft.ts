import type { ClaimedDelivery } from "./claimed-delivery.ts";
import { dueBy, type Lane, type LanePlan } from "./lane.ts";
import type { MinuteRate } from "./pace.ts";
import type { Slots } from "./slots.ts";
import type { EndedAttempt, RecordedAttempt } from "./transport.ts";

/** A claimed delivery that is being sent, and its lane. It holds a slot until it is released. */
export interface Sending {
  readonly lane: Lane;
  readonly delivery: ClaimedDelivery;
}

/**
 * What one transaction of the deliverer learns and claims. Each try of the transaction has its own draft. Lanes take it over after the
 * commit, so a rollback has nothing to undo.
 */
export class RoundDraft {
  /** A copy of the slots, in which those of `sendings` are taken. */
  readonly slots: Slots;
  /** Deliveries that were claimed to be sent at once. */
  readonly sendings: Sending[] = [];
  /** Deliveries that were claimed ahead, by lane. */
  readonly ahead = new Map<Lane, readonly ClaimedDelivery[]>();
  /** Whether everything must be read again after this round. */
  isStale = false;
  readonly #plans = new Map<Lane, LanePlan>();
  /** Copies of the rates, in which the messages of this round are counted. */
  readonly #rates = new Map<MinuteRate, MinuteRate>();

  constructor(slots: Slots) {
    this.slots = slots;
  }

  planOf(lane: Lane): LanePlan {
    return this.#plans.get(lane) ?? lane.plan;
  }

  /** Plans a lane by the database. @param dueAt when its earliest pending delivery is due; null if none is pending. */
  planFrom(lane: Lane, dueAt: number | null): void {
    this.#plans.set(lane, { ...this.planOf(lane), dueAt });
  }

  /** Plans a lane so that nothing is claimed for it before this time. */
  planAfter(lane: Lane, time: number): void {
    const { dueAt } = this.planOf(lane);
    if (dueAt !== null) this.planFrom(lane, Math.max(dueAt, time));
  }

  /** Notes the recorded result of an attempt. Without a lane nothing is planned: the recipient has no lane any more. */
  note(lane: Lane | undefined, { delivery }: EndedAttempt, { before, after }: RecordedAttempt): void {
    if (after.recipientState !== before) this.isStale = true;
    if (lane === undefined) return;
    const plan = { ...this.planOf(lane), breaker: after.breaker };
    const isPending = after.state === "pending";
    this.#plans.set(lane, isPending ? dueBy(plan, after.dueAt ?? delivery.claimedAt) : plan);
  }

  /** Adds deliveries of a lane, whose slots are already taken. */
  begin(lane: Lane, deliveries: readonly ClaimedDelivery[], now: number): void {
    for (const delivery of deliveries) this.sendings.push({ lane, delivery });
    const { rate, workspaceId } = lane;
    if (rate === null) return;
    const first = deliveries.filter(({ attempt }) => attempt === 1).length;
    this.#rateOf(rate).note(workspaceId, first, now);
  }

  /** How many messages of this rate the workspace may still begin in this minute. */
  leftOf(rate: MinuteRate, workspaceId: string, now: number): number {
    return this.#rateOf(rate).left(workspaceId, now);
  }

  #rateOf(rate: MinuteRate): MinuteRate {
    const known = this.#rates.get(rate);
    if (known !== undefined) return known;
    const copy = rate.copy();
    this.#rates.set(rate, copy);
    return copy;
  }

  /** All deliveries that were claimed in this round, by their ids. */
  claimed(): ReadonlyMap<string, Sending> {
    const ahead = [...this.ahead].flatMap(([lane, deliveries]) =>
      deliveries.map((delivery) => ({ lane, delivery })),
    );
    return new Map([...this.sendings, ...ahead].map((claimed) => [claimed.delivery.id, claimed]));
  }

  /** Removes these deliveries from the round, because they are not to be sent now. */
  drop(ids: ReadonlySet<string>): void {
    const kept = this.sendings.filter(({ delivery }) => !ids.has(delivery.id));
    this.sendings.splice(0, this.sendings.length, ...kept);
    for (const [lane, deliveries] of this.ahead)
      this.ahead.set(
        lane,
        deliveries.filter(({ id }) => !ids.has(id)),
      );
  }

  /** Hands the draft over to the lanes. Call after the commit. */
  accept(): void {
    for (const [lane, plan] of this.#plans) lane.follow(plan);
    for (const [lane, deliveries] of this.ahead) lane.putAhead(deliveries);
    for (const [rate, copy] of this.#rates) rate.follow(copy);
  }
}
