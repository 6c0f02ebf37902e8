import { query } from "../database/database.ts";
import { all, type Steps } from "../database/steps.ts";
import { FormsvcError } from "../foundation/errors.ts";
import { getChannelDelivery, listChannelDeliveries } from "../outbox/queue/channel-deliveries.ts";
import type { Attempt, Delivery } from "../outbox/queue/delivery.ts";
import type { ListedDelivery } from "../outbox/queue/delivery-json.ts";
import { type DeliveryFilter, leadOf, listAttempts } from "../outbox/queue/delivery-store.ts";
import { readKinds } from "../outbox/queue/recipient-store.ts";
import { REPLY_KIND } from "../outbox/queue/recipient.ts";
import { findLetter, listLetters, type StoredLetter } from "./letter-store.ts";
import { mailChannel } from "./mail-deliveries.ts";
import { listMailRecipients } from "./mail-recipient-store.ts";

/** Every e-mail that the database knows: those about submissions, automatic replies, and letters of the server itself. */

/** What an e-mail is. `operator`: a letter of the server to its operator, or to an owner about their account. */
export type MailKind = "notification" | "summary" | "digest" | "autoreply" | "confirmation" | "operator";

export interface ListedMail extends ListedDelivery {
  readonly kind: MailKind;
}

export interface MailPage {
  readonly deliveries: readonly ListedMail[];
  /** Null on the last page. */
  readonly nextCursor: string | null;
}

/** Newest first. @throws as `listChannelDeliveries` does */
export function* listMail(filter: Omit<DeliveryFilter, "kinds">): Steps<MailPage> {
  const page = yield* listChannelDeliveries(mailChannel, filter);
  const letters = yield* lettersOf(filter);
  // What is older than the cursor of a page comes with the next one.
  const isOnPage = ({ id }: StoredLetter): boolean => page.nextCursor === null || id >= page.nextCursor;
  const listed = [
    ...(yield* withKinds(page.deliveries)),
    ...letters.filter(isOnPage).map((letter) => listLetter(letter)),
  ].sort((one, other) => (one.id < other.id ? 1 : -1));
  const deliveries = listed.slice(0, filter.limit);
  const nextCursor = listed.length > filter.limit ? (deliveries.at(-1)?.id ?? null) : page.nextCursor;
  return { deliveries, nextCursor };
}

/** One more than fit on the page. */
function* lettersOf(filter: Omit<DeliveryFilter, "kinds">): Steps<readonly StoredLetter[]> {
  const { recipientId, endpointId = null, submissionId, state, cursor: before, limit } = filter;
  if (submissionId !== null || state === "held" || state === "sending") return [];
  const ofEndpoint = endpointId === null ? null : (yield* listMailRecipients(endpointId)).map(({ id }) => id);
  const recipientIds = recipientId === null ? ofEndpoint : [recipientId];
  return yield* listLetters({ recipientIds, state, before, limit: limit + 1 });
}

/** An e-mail with the attempts that are known of it: of a letter, the last one. @throws not_found */
export function* getMail(
  id: string,
): Steps<{ readonly delivery: ListedMail; readonly attempts: readonly Attempt[] }> {
  const letter = yield* findLetter(id);
  if (letter !== undefined) {
    const attempts = letter.lastAttempt === null ? [] : [letter.lastAttempt];
    return { delivery: listLetter(letter), attempts };
  }
  const found = yield* getChannelDelivery(mailChannel, id);
  const attempts = yield* listAttempts(leadOf(found));
  const [delivery] = yield* withKinds([found]);
  if (delivery === undefined) throw new FormsvcError("not_found", `there is no delivery ${id}`);
  return { delivery, attempts };
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

/** The recipients whose submissions of an hour or a day go together. */
function* readDigesting(ids: readonly string[]): Steps<ReadonlySet<string>> {
  if (ids.length === 0) return new Set();
  const rows = query.selectFrom("mail_recipient").select("id").where("digest", "!=", "each");
  return new Set((yield* all(rows.where("id", "in", ids))).map(({ id }) => id));
}
