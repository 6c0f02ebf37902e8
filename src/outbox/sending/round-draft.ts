import type { ClaimedDelivery } from "./claimed-delivery.ts";
import { dueBy, type Lane, type LanePlan } from "./lane.ts";
import type { MinuteRate } from "./pace.ts";
import type { Slots } from "./slots.ts";
import type { EndedAttempt, RecordedAttempt } from "./transport.ts";

/** A claimed delivery and its lane, which holds a slot until it is released. */
export interface Sending {
  readonly lane: Lane;
  readonly delivery: ClaimedDelivery;
}

/**
 * What one transaction of the deliverer learns and claims. Each try of the transaction has its own; lanes follow after the commit,
 * so a rollback has nothing to undo.
 */
export class RoundDraft {
  /** With those of `sendings` taken. */
  readonly slots: Slots;
  /** Claimed to be sent at once. */
  readonly sendings: Sending[] = [];
  /** Claimed for later. */
  readonly ahead = new Map<Lane, readonly ClaimedDelivery[]>();
  /** Whether every recipient must be read again. */
  isStale = false;
  readonly #plans = new Map<Lane, LanePlan>();
  /** As they are with what was begun. */
  readonly #rates = new Map<MinuteRate, MinuteRate>();

  constructor(slots: Slots) {
    this.slots = slots;
  }

  planOf(lane: Lane): LanePlan {
    return this.#plans.get(lane) ?? lane.plan;
  }

  /** @param dueAt when its earliest pending delivery is due, as the database has it. */
  planFrom(lane: Lane, dueAt: number | null): void {
    this.#plans.set(lane, { ...this.planOf(lane), dueAt });
  }

  /** It is not asked again before that time. */
  planAfter(lane: Lane, time: number): void {
    const { dueAt } = this.planOf(lane);
    if (dueAt !== null) this.planFrom(lane, Math.max(dueAt, time));
  }

  /** The recorded result of an attempt; without a lane the recipient was read again since, and gets nothing now. */
  note(lane: Lane | undefined, { delivery }: EndedAttempt, { before, after }: RecordedAttempt): void {
    if (after.recipientState !== before) this.isStale = true;
    if (lane === undefined) return;
    const plan = { ...this.planOf(lane), breaker: after.breaker };
    const isPending = after.state === "pending";
    this.#plans.set(lane, isPending ? dueBy(plan, after.dueAt ?? delivery.claimedAt) : plan);
  }

  /** Deliveries of a lane that took slots before. */
  begin(lane: Lane, deliveries: readonly ClaimedDelivery[], now: number): void {
    for (const delivery of deliveries) this.sendings.push({ lane, delivery });
    const { rate, workspaceId } = lane;
    if (rate === null) return;
    const first = deliveries.filter(({ attempt }) => attempt === 1).length;
    this.#rateOf(rate).note(workspaceId, first, now);
  }

  /** Messages that the transport of this rate may begin in this minute for this workspace. */
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

  /** Everything that was claimed, by the id. */
  claimed(): ReadonlyMap<string, Sending> {
    const ahead = [...this.ahead].flatMap(([lane, deliveries]) =>
      deliveries.map((delivery) => ({ lane, delivery })),
    );
    return new Map([...this.sendings, ...ahead].map((claimed) => [claimed.delivery.id, claimed]));
  }

  /** These will not be sent now. */
  drop(ids: ReadonlySet<string>): void {
    const kept = this.sendings.filter(({ delivery }) => !ids.has(delivery.id));
    this.sendings.splice(0, this.sendings.length, ...kept);
    for (const [lane, deliveries] of this.ahead)
      this.ahead.set(
        lane,
        deliveries.filter(({ id }) => !ids.has(id)),
      );
  }

  /** The transaction has committed. */
  accept(): void {
    for (const [lane, plan] of this.#plans) lane.follow(plan);
    for (const [lane, deliveries] of this.ahead) lane.putAhead(deliveries);
    for (const [rate, copy] of this.#rates) rate.follow(copy);
  }
}
