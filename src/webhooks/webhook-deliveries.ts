import { type Actor, recordChange } from "../audit/audit-store.ts";
import type { Database } from "../database/database.ts";
import type { Steps } from "../database/steps.ts";
import {
  type DeliveryFilter,
  type DeliveryPage,
  getDelivery,
  listDeliveries,
} from "../outbox/delivery-store.ts";
import {
  checkReplay,
  countReplayable,
  replayDelivery,
  type ReplayOptions,
  replayRange,
  type ReplayRange,
} from "../outbox/replay-deliveries.ts";
import { recordWebhookChange } from "./record-webhook-change.ts";
import { getWebhook } from "./webhook-store.ts";

/** Newest first. @throws not_found when the named webhook or submission is not there; invalid_request on a cursor that no page returned. */
export function* listWebhookDeliveries(filter: DeliveryFilter): Steps<DeliveryPage> {
  // For a misspelt id, an empty page would suggest that all is well.
  if (filter.recipientId !== null) yield* getWebhook(filter.recipientId);
  return yield* listDeliveries(filter);
}

export interface Replay extends ReplayOptions {
  /** Who asks for it; null is the command line. */
  readonly actor: Actor | null;
  /** One delivery by its id, or all of a range. */
  readonly what: string | ReplayRange;
  /** Only counts; sends nothing. */
  readonly dryRun: boolean;
}

export interface Replayed {
  readonly matched: number;
  readonly replayed: number;
  /** The message that will be sent, when one delivery was named. */
  readonly id?: string;
}

/** @throws not_found when what is named is not there; conflict as {@link replayDelivery} does, in a dry run as well. */
export async function replay(db: Database, { what, dryRun, actor, ...options }: Replay): Promise<Replayed> {
  if (typeof what === "string") {
    const { state, recipientId } = await db.read(() => getDelivery(what));
    checkReplay(what, state, options.asNew);
    if (dryRun) return { matched: 1, replayed: 0, id: what };
    await db.transaction(() => recordReplay(actor, recipientId, options.now));
    return { matched: 1, replayed: 1, id: await replayDelivery(db, what, options) };
  }
  const { recipientId } = what;
  if (recipientId !== null) await db.read(() => getWebhook(recipientId));
  const matched = await countReplayable(db, what, options.asNew);
  if (dryRun || matched === 0) return { matched, replayed: 0 };
  await db.transaction(() => recordReplay(actor, recipientId, options.now));
  return { matched, replayed: await replayRange(db, what, options) };
}

/** Before the replay, which may take many transactions. @param webhookId null is every webhook. */
function* recordReplay(actor: Actor | null, webhookId: string | null, now: number): Steps<void> {
  if (webhookId !== null)
    return yield* recordWebhookChange(actor, "replay", yield* getWebhook(webhookId), now);
  const change = {
    action: "webhook.replay",
    subject: "every webhook",
    workspaceId: null,
    detail: null,
  } as const;
  return yield* recordChange(actor, change, now);
}
