import type { Selectable } from "kysely";
import { query } from "../../database/database.ts";
import { all, first, run, type Steps, text, textByEngine } from "../../database/steps.ts";
import type { Tables } from "../../database/tables.generated.ts";
import { FormsvcError } from "../../foundation/errors.ts";
import { newId } from "../../foundation/id.ts";
import { findLanguage, type Language } from "../../languages/language.ts";
import { type Recipient, REPLY_KIND } from "../../outbox/queue/recipient.ts";
import { findRecipient, insertRecipient } from "../../outbox/queue/recipient-store.ts";
import { joinRows, listRecipientsOf, type RecipientType } from "../../recipients/recipient-type.ts";
import { MAIL_KIND } from "../recipients/mail-recipient.ts";
import { mailboxOf } from "./automatic-address.ts";
import { type AutoReply, type AutoReplySettings, MAX_REPLIED_SCORE, onSince } from "./auto-reply.ts";

/** Automatic replies as a type of recipient. */
export const REPLIES: RecipientType<AutoReply> = {
  kind: REPLY_KIND,
  complete: (recipients) =>
    joinRows(
      recipients,
      (ids) => query.selectFrom("auto_reply").selectAll().where("id", "in", ids),
      toAutoReply,
    ),
  none: (id) => new FormsvcError("not_found", `there is no automatic reply ${id}`),
  describe: () => "",
};

/** The automatic reply of an endpoint, on or off; undefined if it never had one. */
export function* findAutoReplyOf(endpointId: string): Steps<AutoReply | undefined> {
  return (yield* listRecipientsOf(REPLIES, [endpointId]))[0];
}

/** The name of the field that holds the address; undefined if there is no automatic reply with this id. */
export function* readReplyField(id: string): Steps<string | undefined> {
  return (yield* first(text<{ field: string }>(REPLY_SQL.field, id)))?.field;
}

/** Adds an automatic reply that is turned off. Returns its id. */
export function* insertAutoReplyRows(
  endpointId: string,
  settings: AutoReplySettings,
  now: number,
): Steps<string> {
  const id = newId("rcpt", now);
  const made = { id, kind: REPLY_KIND, endpointId, maxSpamScore: MAX_REPLIED_SCORE, confirmedAt: null };
  yield* insertRecipient(made, now);
  yield* run(
    query.insertInto("auto_reply").values({ id, ...toColumns(settings), begun_at: null, sent_at: null }),
  );
  return id;
}

export function* updateAutoReplyRow(id: string, settings: AutoReplySettings): Steps<void> {
  yield* run(query.updateTable("auto_reply").set(toColumns(settings)).where("id", "=", id));
}

/** Stores the language of the reply to a submission. Runs in the transaction that stores the submission, whose row may be written later. */
export function* insertReplyLanguageRow(submissionId: string, language: Language): Steps<void> {
  yield* run(query.insertInto("reply_language").values({ submission_id: submissionId, language }));
}

/** The language of the reply; null if the post did not say one. */
export function* readReplyLanguage(submissionId: string): Steps<Language | null> {
  const row = yield* first(
    query.selectFrom("reply_language").select("language").where("submission_id", "=", submissionId),
  );
  return findLanguage(row?.language);
}

export function* noteReplyBegun(id: string, now: number): Steps<void> {
  yield* run(query.updateTable("auto_reply").set({ begun_at: now }).where("id", "=", id));
}

export function* noteReplySent(id: string, now: number): Steps<void> {
  yield* run(query.updateTable("auto_reply").set({ sent_at: now }).where("id", "=", id));
}

/**
 * Whether a recipient of any endpoint has this mailbox, and has unsubscribed or was stopped because it refused several messages for good.
 */
export function* isSuppressed(address: string): Steps<boolean> {
  const found = textByEngine<{ id: string; unsubscribed_at: number | null }>(
    REPLY_SQL.byMailbox,
    mailboxOf(address),
  );
  for (const { id, unsubscribed_at: unsubscribedAt } of yield* all(found))
    if (unsubscribedAt !== null || (yield* findRecipient(MAIL_KIND, id))?.state === "stopped") return true;
  return false;
}

/** The result of {@link mailboxOf} in SQL. Each engine has the expression of its own index. */
const MAILBOX_SQL = {
  sqlite: `replace(substr(lower(address), 1, instr(replace(address, '@', '+'), '+') - 1), '.', '')
    || substr(lower(address), instr(address, '@'))`,
  postgresql: `replace(split_part(split_part(lower(address), '@', 1), '+', 1), '.', '')
    || '@' || split_part(lower(address), '@', 2)`,
} as const;

export const REPLY_SQL = {
  field: "SELECT field FROM auto_reply WHERE id = ?",
  byMailbox: {
    sqlite: `SELECT id, unsubscribed_at FROM mail_recipient WHERE ${MAILBOX_SQL.sqlite} = ?`,
    postgresql: `SELECT id, unsubscribed_at FROM mail_recipient WHERE ${MAILBOX_SQL.postgresql} = ?`,
  },
} as const;

function toColumns({ field, subject, text: body, replyToId }: AutoReplySettings) {
  return { field, subject, text: body, reply_to: replyToId };
}

function toAutoReply(recipient: Recipient, row: Selectable<Tables["auto_reply"]>): AutoReply {
  const { id, endpointId, createdAt } = recipient;
  const { field, subject, text: body, reply_to: replyToId } = row;
  const settings = { field, subject, text: body, replyToId };
  return { id, endpointId, onSince: onSince(recipient), settings, sentAt: row.sent_at, createdAt };
}
