import type { Database } from "../../database/database.ts";
import type { Steps } from "../../database/steps.ts";
import { FormsvcError } from "../../foundation/errors.ts";
import { countAction, type LimitedAccount } from "./account-limits.ts";
import type { Delivery } from "./delivery.ts";
import { type DeliveryFilter, type DeliveryPage, getDelivery, listDeliveries } from "./delivery-store.ts";
import { findRecipient } from "./recipient-store.ts";
import {
  checkReplay,
  countReplayable,
  replayDelivery,
  type ReplayOptions,
  replayRange,
  type ReplayRange,
} from "./replay-deliveries.ts";

/** The recipients of one kind, as commands and pages work with their deliveries. */
export interface Channel<Actor> {
  /** As `recipient.kind` has it. */
  readonly kind: string;
  /** Kinds of which the deliveries are shown among these, and are never sent again. */
  readonly alsoShows: readonly string[];
  /** @throws not_found when there is none with this id. */
  readonly requireRecipient: (id: string) => Steps<unknown>;
  /** Records who had deliveries sent again. @param recipientId null is every recipient of the kind. */
  readonly recordReplay: (actor: Actor | null, recipientId: string | null, now: number) => Steps<void>;
}

/** Newest first. @throws not_found when the named recipient or submission is not there; invalid_request on a cursor that no page returned. */
export function* listChannelDeliveries<Actor>(
  { kind, alsoShows, requireRecipient }: Channel<Actor>,
  filter: Omit<DeliveryFilter, "kinds">,
): Steps<DeliveryPage> {
  // For a misspelt id, an empty page would suggest that all is well.
  if (filter.recipientId !== null) yield* requireRecipient(filter.recipientId);
  return yield* listDeliveries({ ...filter, kinds: [kind, ...alsoShows] });
}

/** @throws not_found when there is none with this id, and if it is to a recipient of another kind. */
export function* getChannelDelivery<Actor>(channel: Channel<Actor>, id: string): Steps<Delivery> {
  const { kind, alsoShows } = channel;
  const delivery = yield* getDelivery(id);
  for (const each of [kind, ...alsoShows])
    if ((yield* findRecipient(each, delivery.recipientId)) !== undefined) return delivery;
  throw noDelivery(id);
}

/** A message to this recipient. @throws not_found when there is none with this id, and if it is to another. */
export function* getDeliveryTo(recipientId: string, id: string): Steps<Delivery> {
  const delivery = yield* getDelivery(id);
  if (delivery.recipientId === recipientId) return delivery;
  throw noDelivery(id);
}

function noDelivery(id: string): FormsvcError {
  return new FormsvcError("not_found", `there is no delivery ${id}`, { hint: { kind: "list_deliveries" } });
}

export interface Replay<Actor> extends ReplayOptions {
  /** Who asks for it; null is the command line. */
  readonly actor: (Actor & LimitedAccount) | null;
  /** One delivery by its id, or all of a range. */
  readonly what: string | Omit<ReplayRange, "kind">;
  /** Only counts; sends nothing. */
  readonly dryRun: boolean;
}

export interface Replayed {
  readonly matched: number;
  readonly replayed: number;
  /** The message that will be sent, when one delivery was named. */
  readonly id?: string;
}

/**
 * @throws not_found when what is named is not there; conflict as {@link replayDelivery} does, in a dry run as well, and for messages
 *   of a kind that is only shown; rate_limited if an account sent too many as new ones.
 */
export async function replayOf<Actor>(
  channel: Channel<Actor>,
  db: Database,
  { what, dryRun, actor, ...options }: Replay<Actor>,
): Promise<Replayed> {
  const { kind, requireRecipient, recordReplay } = channel;
  if (typeof what === "string") {
    const { state, recipientId, others } = await db.read(() => getChannelDelivery(channel, what));
    await db.read(() => requireReplayable(channel, recipientId));
    checkReplay(what, state, options.asNew);
    if (dryRun) return { matched: 1, replayed: 0, id: what };
    await db.transaction(function* () {
      // With new ids, each message of a summary goes by itself.
      if (options.asNew && actor !== null)
        yield* countAction(actor, "replay-as-new", 1 + others, options.now);
      yield* recordReplay(actor, recipientId, options.now);
    });
    return { matched: 1, replayed: 1, id: await replayDelivery(db, what, options) };
  }
  const { recipientId } = what;
  const range = { ...what, kind };
  if (recipientId !== null)
    await db.read(function* () {
      yield* requireRecipient(recipientId);
      yield* requireReplayable(channel, recipientId);
    });
  const matched = await countReplayable(db, range, options);
  if (dryRun || matched === 0) return { matched, replayed: 0 };
  // Before the replay, which may take many transactions.
  await db.transaction(() => recordReplay(actor, recipientId, options.now));
  return { matched, replayed: await replayRange(db, range, options) };
}

function* requireReplayable<Actor>({ kind }: Channel<Actor>, recipientId: string): Steps<void> {
  if ((yield* findRecipient(kind, recipientId)) !== undefined) return;
  throw new FormsvcError(
    "conflict",
    "an automatic reply is never sent again: its address may be that of somebody who never posted",
  );
}
