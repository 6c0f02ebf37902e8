import type { Recipient } from "../../outbox/queue/recipient.ts";

/** The e-mail that the sender of a post gets. It has the owner's text, and nothing that was posted. */
export interface AutoReply {
  readonly id: string;
  readonly endpointId: string;
  /** When it was turned on; null while it is off. */
  readonly onSince: number | null;
  readonly settings: AutoReplySettings;
  /** When the mail server last accepted a reply; null before the first. */
  readonly sentAt: number | null;
  readonly createdAt: number;
}

export interface AutoReplySettings {
  /** The name of the field of format e-mail that holds the address. */
  readonly field: string;
  /** A template with {@link PLACEHOLDERS}; null means the built-in one, in the language of the endpoint. */
  readonly subject: string | null;
  /** A template of several lines with {@link PLACEHOLDERS}; null means the built-in one, in the language of the endpoint. */
  readonly text: string | null;
  /** The id of the endpoint's recipient that gets the answers; null if nobody does. */
  readonly replyToId: string | null;
}

/**
 * The names that may stand in braces in a subject and a text. `form` and `endpoint` are the same name, in the words of the dashboard and of
 * the command line. No field is among them: a stranger would choose what is sent to somebody else.
 */
export const PLACEHOLDERS = ["form", "endpoint", "reference", "time"] as const;

/** The largest number of characters in the template of a subject, and in that of a text. */
export const MAX_REPLY_SUBJECT_LENGTH = 200;
export const MAX_REPLY_TEXT_LENGTH = 4000;

/** A post with a higher spam score gets no reply, because its address may belong to somebody else. */
export const MAX_REPLIED_SCORE = 25;

/** When the reply was turned on; null while it is off. @param recipient the row of the reply in `recipient`. */
export function onSince({ state, confirmedAt }: Pick<Recipient, "state" | "confirmedAt">): number | null {
  return state === "enabled" ? confirmedAt : null;
}
