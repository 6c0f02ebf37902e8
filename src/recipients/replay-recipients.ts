import { z } from "zod";
import type { Steps } from "../database/steps.ts";
import { FormsvcError } from "../foundation/errors.ts";
import { changed, type Context, type OwnChange } from "../operations/operation.ts";
import { countAction } from "../outbox/queue/account-limits.ts";
import type { ShownKinds } from "../outbox/queue/shown-deliveries.ts";
import {
  checkReplay,
  countReplayable,
  replayDelivery,
  type RenewMessage,
  type ReplayOptions,
  replayRange,
} from "../outbox/queue/replay-deliveries.ts";
import { changeOf } from "./change-recipient.ts";
import { limitedAccountOf } from "./limited-account.ts";
import { chooseRecipients, reachDelivery, type ReachedRecipient } from "./reach-delivery.ts";
import type { AnyRecipient, RecipientType } from "./recipient-type.ts";

/** The input members of a replay that all kinds of recipient have in common. */
export const replayInput = {
  delivery: z
    .string()
    .nullable()
    .default(null)
    .describe("Id of the one delivery to send again; null chooses deliveries by the other members."),
  failed: z.boolean().default(false).describe("Whether every delivery that failed for good is sent again."),
  since: z.iso
    .datetime()
    .nullable()
    .default(null)
    .describe(
      "Only messages that were made at this time or later. A summary that is sent again with its id counts by each of its messages.",
    ),
  until: z.iso.datetime().nullable().default(null).describe("Only messages that were made before this time."),
  as_new: z
    .boolean()
    .default(false)
    .describe(
      "Whether each message is sent with a new id, so that the receiver acts on it again; only for messages that were delivered or failed.",
    ),
  dry_run: z
    .boolean()
    .default(false)
    .describe("Whether nothing is sent, and the answer only says how many deliveries match."),
};

export const replayedShape = z.strictObject({
  matched: z.number(),
  replayed: z.number(),
  id: z.string().optional().describe("Id of the message that will be sent; only if one delivery was named."),
});

/** The members that all operations for a replay have in common. */
export const replaying = { kind: "write", access: "recipients:write", output: replayedShape } as const;

type Replayed = z.output<typeof replayedShape>;

/** The kinds of recipient that a replay is about, with the texts for the record of changes. */
export interface ReplayedKinds<Of extends AnyRecipient> extends ShownKinds {
  readonly type: RecipientType<Of>;
  readonly action: NonNullable<OwnChange["action"]>;
  /** Null if the messages of these kinds are never renewed. */
  readonly renew: RenewMessage | null;
  /** The text for all recipients, if none is named. */
  readonly everyone: string;
}

interface ReplayRequest extends z.output<z.ZodObject<typeof replayInput>> {
  readonly recipientId: string | null;
}

/**
 * Sends one delivery, or a range of them, again.
 *
 * @throws usage unless exactly one of the two is given; not_found if it does not exist; conflict for a delivery that is being sent, in a
 * dry run too, and for messages of a kind that is never sent again; rate_limited if an account has sent too many as new ones.
 */
export async function replay<Of extends AnyRecipient>(
  context: Context,
  kinds: ReplayedKinds<Of>,
  request: ReplayRequest,
): Promise<Replayed> {
  const { delivery, failed, since, until, recipientId } = request;
  const isRange = failed || since !== null || until !== null;
  if (delivery === null) {
    if (!isRange)
      throw new FormsvcError("usage", "name a delivery, or say which range: failed, since or until");
    return replayMany(context, kinds, request);
  }
  if (isRange || recipientId !== null)
    throw new FormsvcError("usage", "name one delivery or give a range, not both");
  return replayOne(context, kinds, delivery, request);
}

async function replayOne<Of extends AnyRecipient>(
  context: Context,
  kinds: ReplayedKinds<Of>,
  id: string,
  request: ReplayRequest,
): Promise<Replayed> {
  const { db } = context;
  const options = optionsOf(context, kinds, request);
  const { delivery, ...reached } = await db.read(() => reachDelivery(context, kinds, id));
  requireReplayable(kinds, reached);
  checkReplay(id, delivery.state, options.asNew);
  if (request.dry_run) return { matched: 1, replayed: 0, id };
  // With new ids, each message of a summary goes by itself, so each counts.
  await note(context, kinds, { options, reached, messages: 1 + delivery.others });
  return { matched: 1, replayed: 1, id: await replayDelivery(db, id, options) };
}

async function replayMany<Of extends AnyRecipient>(
  context: Context,
  kinds: ReplayedKinds<Of>,
  request: ReplayRequest,
): Promise<Replayed> {
  const { db } = context;
  const options = optionsOf(context, kinds, request);
  const { range, reached } = await db.read(function* () {
    const { recipientId, failed: failedOnly, since, until } = request;
    const choice = { recipientId, endpoint: null, workspace: null };
    const chosen = yield* chooseRecipients(context, kinds, choice, kinds.type.none);
    const times = { since: timeOf(since), until: timeOf(until) };
    return { range: { kind: kinds.kind, failedOnly, ...times, ...chosen }, reached: chosen.reached };
  });
  if (reached !== null) requireReplayable(kinds, reached);
  const matched = await countReplayable(db, range, options);
  if (request.dry_run || matched === 0) return { matched, replayed: 0 };
  // Recorded before the replay, which may take many transactions.
  await note(context, kinds, { options, reached, messages: matched });
  return { matched, replayed: await replayRange(db, range, options) };
}

function optionsOf(
  { now }: Context,
  { renew }: Pick<ReplayedKinds<AnyRecipient>, "renew">,
  { as_new: asNew }: ReplayRequest,
): ReplayOptions {
  return { asNew, now, renew };
}

function timeOf(time: string | null): number | null {
  return time === null ? null : Date.parse(time);
}

function requireReplayable({ kind }: ShownKinds, { recipient }: ReachedRecipient): void {
  if (recipient.kind === kind) return;
  throw new FormsvcError(
    "conflict",
    "an automatic reply is never sent again: its address may be that of somebody who never posted",
  );
}

interface Noted {
  readonly options: ReplayOptions;
  readonly reached: ReachedRecipient | null;
  readonly messages: number;
}

/** Counts what an account sends with new ids, and records who sends again. */
async function note<Of extends AnyRecipient>(
  context: Context,
  kinds: ReplayedKinds<Of>,
  { options, reached, messages }: Noted,
): Promise<void> {
  const account = limitedAccountOf(context.actor);
  await context.transact(function* () {
    if (options.asNew && account !== null)
      yield* countAction(account, "replay-as-new", messages, options.now);
    return changed(null, yield* changeTo(kinds, reached));
  });
}

function* changeTo<Of extends AnyRecipient>(
  { type, action, everyone }: ReplayedKinds<Of>,
  reached: ReachedRecipient | null,
): Steps<OwnChange> {
  const [recipient] = reached === null ? [] : yield* type.complete([reached.recipient]);
  if (reached === null || recipient === undefined)
    return { action, subject: everyone, workspaceId: null, detail: null };
  return { ...changeOf(type, recipient, reached.endpoint), action };
}
