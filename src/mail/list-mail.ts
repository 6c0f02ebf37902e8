import { query } from "../database/database.ts";
import { all, type Steps } from "../database/steps.ts";
import { FormsvcError } from "../foundation/errors.ts";
import { listShownDeliveries } from "../outbox/queue/shown-deliveries.ts";
import type { Attempt, Delivery } from "../outbox/queue/delivery.ts";
import type { ListedDelivery } from "../recipients/delivery-json.ts";
import { type DeliveryFilter, leadOf, listAttempts, noDelivery } from "../outbox/queue/delivery-store.ts";
import { listRecipients, readKinds } from "../outbox/queue/recipient-store.ts";
import { REPLY_KIND } from "../outbox/queue/recipient.ts";
import { reachDelivery } from "../recipients/reach-delivery.ts";
import { reachRecipient } from "../recipients/reach-recipient.ts";
import type { Asking } from "../workspaces/reach.ts";
import { findLetter, listLetters, type StoredLetter } from "./letters/letter-store.ts";
import { mailKinds } from "./mail-kinds.ts";
import { MAIL_KIND } from "./recipients/mail-recipient.ts";
import { MAIL_RECIPIENTS } from "./recipients/mail-recipient-store.ts";

/** Lists every e-mail that the database knows: e-mails about submissions, automatic replies, and letters of the server itself. */

/** The type of an e-mail. `operator` is a letter of the server to its operator, or to an owner about their account. */
export const MAIL_KINDS = [
  "notification",
  "summary",
  "digest",
  "autoreply",
  "confirmation",
  "operator",
] as const;
type MailKind = (typeof MAIL_KINDS)[number];

export interface ListedMail extends ListedDelivery {
  readonly kind: MailKind;
}

export interface MailPage {
  readonly deliveries: readonly ListedMail[];
  /** Null on the last page. */
  readonly nextCursor: string | null;
}

/** E-mails, newest first. @throws as `listShownDeliveries` does. */
export function* listMail(filter: Omit<DeliveryFilter, "kinds">): Steps<MailPage> {
  const page = yield* listShownDeliveries(mailKinds, filter);
  const letters = yield* lettersOf(filter);
  // A letter that is older than the cursor of this page belongs to the next page.
  const isOnPage = ({ id }: StoredLetter): boolean => page.nextCursor === null || id >= page.nextCursor;
  const listed = [
    ...(yield* withKinds(page.deliveries)),
    ...letters.filter(isOnPage).map((letter) => listLetter(letter)),
  ].sort((one, other) => (one.id < other.id ? 1 : -1));
  const deliveries = listed.slice(0, filter.limit);
  const nextCursor = listed.length > filter.limit ? (deliveries.at(-1)?.id ?? null) : page.nextCursor;
  return { deliveries, nextCursor };
}

/** The letters for a page, one more than the page takes. */
function* lettersOf(filter: Omit<DeliveryFilter, "kinds">): Steps<readonly StoredLetter[]> {
  const { recipientId, endpointIds = null, submissionId, state, cursor: before, limit } = filter;
  if (submissionId !== null || state === "held" || state === "sending") return [];
  const ofEndpoints =
    endpointIds === null ? null : (yield* listRecipients(MAIL_KIND, endpointIds)).map(({ id }) => id);
  const recipientIds = recipientId === null ? ofEndpoints : [recipientId];
  return yield* listLetters({ recipientIds, state, before, limit: limit + 1 });
}

/** An e-mail with its known attempts; of a letter, only the last one is known. @throws not_found */
export function* getMail(
  asking: Asking,
  id: string,
): Steps<{ readonly delivery: ListedMail; readonly attempts: readonly Attempt[] }> {
  const letter = yield* findLetter(id);
  if (letter !== undefined) {
    yield* reachLetter(asking, letter);
    const attempts = letter.lastAttempt === null ? [] : [letter.lastAttempt];
    return { delivery: listLetter(letter), attempts };
  }
  const { delivery: found } = yield* reachDelivery(asking, mailKinds, id);
  const attempts = yield* listAttempts(leadOf(found));
  const [delivery] = yield* withKinds([found]);
  if (delivery === undefined) throw noDelivery(id);
  return { delivery, attempts };
}

/**
 * Checks that a letter is visible. A question to a recipient's holder is visible with that recipient; other letters are visible to
 * operators alone. @throws not_found, forbidden
 */
function* reachLetter(asking: Asking, { id, recipientId }: StoredLetter): Steps<void> {
  const { isOperator, reach = null } = asking.viewing;
  if (isOperator && reach === null) return;
  if (recipientId === null) throw noDelivery(id);
  yield* reachRecipient(asking, { ...MAIL_RECIPIENTS, none: () => noDelivery(id) }, recipientId);
}

/** @throws conflict if it is a letter of the server. */
export function* refuseLetter(id: string): Steps<void> {
  if ((yield* findLetter(id)) === undefined) return;
  const message = `${id} is a letter of the server, which is tried again by itself; the holder of an address is asked again in the dashboard`;
  throw new FormsvcError("conflict", message);
}

function listLetter(letter: StoredLetter): ListedMail {
  const { id, kind, recipientId, state, attempts, spent, dueAt, lastAttempt } = letter;
  return {
    id,
    kind: kind === "confirmation" ? kind : "operator",
    recipientId,
    submissionId: null,
    state,
    attempts,
    spent,
    dueAt: state === "pending" ? dueAt : null,
    lastStatus: lastAttempt?.status ?? null,
    leadId: null,
    others: 0,
  };
}

function* withKinds(deliveries: readonly Delivery[]): Steps<ListedMail[]> {
  const ids = [...new Set(deliveries.map(({ recipientId }) => recipientId))];
  const kinds = yield* readKinds(ids);
  const digesting = yield* readDigesting(ids);
  return deliveries.map((delivery) => {
    const { recipientId, leadId, others } = delivery;
    if (kinds.get(recipientId) === REPLY_KIND) return { ...delivery, kind: "autoreply" };
    if (digesting.has(recipientId)) return { ...delivery, kind: "digest" };
    return { ...delivery, kind: leadId === null && others === 0 ? "notification" : "summary" };
  });
}

/** The ids of the recipients that get summaries of an hour or a day. */
function* readDigesting(ids: readonly string[]): Steps<ReadonlySet<string>> {
  if (ids.length === 0) return new Set();
  const rows = query.selectFrom("mail_recipient").select("id").where("digest", "!=", "each");
  return new Set((yield* all(rows.where("id", "in", ids))).map(({ id }) => id));
}
