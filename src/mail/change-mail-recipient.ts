import { type Actor, type Doer, recordChange } from "../audit/audit-store.ts";
import type { Database } from "../database/database.ts";
import { writeInTurn } from "../database/read-in-turn.ts";
import type { Steps } from "../database/steps.ts";
import { findEndpoint } from "../endpoints/endpoint-store.ts";
import type { Clock } from "../foundation/clock.ts";
import { toIsoTime } from "../foundation/clock.ts";
import { FormsvcError } from "../foundation/errors.ts";
import { domainOf } from "../foundation/mail-address.ts";
import { alignDeliveries } from "../outbox/queue/align-deliveries.ts";
import { endGathering } from "../outbox/queue/end-gathering.ts";
import { setRecipientEnabled } from "../outbox/queue/recipient-store.ts";
import type { MailRecipient, MailRecipientSettings } from "./mail-recipient.ts";
import {
  createMailRecipient,
  deleteMailRecipient,
  getMailRecipient,
  updateMailRecipient,
} from "./mail-recipient-store.ts";

/** What commands and pages do to recipients. Each is recorded with who asked for it; null is the command line. */

export interface NewMailRecipient {
  readonly endpointId: string;
  readonly settings: MailRecipientSettings;
  /** Whether it gets e-mail at once; if not, `startConfirmation` asks its holder. */
  readonly isConfirmed: boolean;
  readonly actor: Actor | null;
}

/** As {@link createMailRecipient}. @throws usage, already_exists */
export function* addMailRecipient(
  { endpointId, settings, isConfirmed, actor }: NewMailRecipient,
  now: number,
): Steps<MailRecipient> {
  const made = yield* createMailRecipient(endpointId, settings, isConfirmed ? now : null, now);
  yield* recordRecipientChange(actor, "create", made, now);
  return made;
}

export interface MailRecipientChange {
  readonly id: string;
  readonly change: Partial<Omit<MailRecipientSettings, "address">>;
  readonly actor: Actor | null;
}

/** As {@link updateMailRecipient}. With another digest, what was gathered so far goes out now. @throws usage, not_found */
export function* changeMailRecipient(
  { id, change, actor }: MailRecipientChange,
  now: number,
): Steps<MailRecipient> {
  const before = yield* getMailRecipient(id);
  const changed = yield* updateMailRecipient(id, change);
  if (changed.settings.digest !== before.settings.digest) yield* endGathering(id, now);
  yield* recordRecipientChange(actor, "set", changed, now);
  return changed;
}

export interface MailRecipientSwitch {
  readonly id: string;
  readonly enabled: boolean;
  readonly actor: Actor | null;
}

/**
 * Enables or disables a recipient and moves its messages to the matching state. Enabling forgives its refusals.
 *
 * @throws not_found; conflict when its holder has to agree first
 */
export async function switchMailRecipient(
  db: Database,
  { id, enabled, actor }: MailRecipientSwitch,
  clock: Clock,
): Promise<MailRecipient> {
  const recipient = await db.transaction(function* () {
    const before = yield* getMailRecipient(id);
    if (enabled) checkWanted(before);
    yield* setRecipientEnabled(id, enabled);
    yield* recordRecipientChange(actor, enabled ? "enable" : "disable", before, clock.now());
    return yield* getMailRecipient(id);
  });
  while (await writeInTurn(db, () => alignDeliveries(clock.now())));
  return recipient;
}

/** Only the holder of an address decides that it gets e-mail. */
function checkWanted({ settings, confirmedAt, unsubscribedAt }: MailRecipient): void {
  const { address } = settings;
  if (unsubscribedAt !== null) {
    const since = toIsoTime(unsubscribedAt);
    throw new FormsvcError(
      "conflict",
      `${address} unsubscribed at ${since}; if its holder agrees again, remove the recipient and add it anew`,
    );
  }
  if (confirmedAt === null)
    throw new FormsvcError("conflict", `the holder of ${address} has not confirmed yet`);
}

/** As {@link deleteMailRecipient}. @throws not_found */
export async function removeMailRecipient(
  db: Database,
  id: string,
  actor: Actor | null,
  now: number,
): Promise<void> {
  // Recorded first: the messages go in many transactions, and the recipient in the last one.
  await db.transaction(function* () {
    yield* recordRecipientChange(actor, "delete", yield* getMailRecipient(id), now);
  });
  await deleteMailRecipient(db, id, now);
}

type RecipientVerb =
  | "create"
  | "set"
  | "enable"
  | "disable"
  | "delete"
  | "replay"
  | "ask"
  | "test"
  | "confirm"
  | "unsubscribe";

/** Records what was done to a recipient. It names the domain alone: an address is a person's. */
export function* recordRecipientChange(
  actor: Doer,
  verb: RecipientVerb,
  { id, endpointId, settings }: MailRecipient,
  now: number,
): Steps<void> {
  const endpoint = yield* findEndpoint(endpointId);
  const detail = `an address at ${domainOf(settings.address)}`;
  const change = { subject: id, workspaceId: endpoint?.workspaceId ?? null, detail };
  yield* recordChange(actor, { action: `recipient.${verb}`, ...change }, now);
}
