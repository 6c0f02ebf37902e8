import type { Recipient } from "../../outbox/queue/recipient.ts";

/** The e-mail that whoever posts to an endpoint gets, with the owner's text and nothing of what was posted. */
export interface AutoReply {
  readonly id: string;
  readonly endpointId: string;
  /** When it was turned on; null while it is off. */
  readonly onSince: number | null;
  readonly settings: AutoReplySettings;
  /** When the mail server last took a reply; null before the first. */
  readonly sentAt: number | null;
  readonly createdAt: number;
}

export interface AutoReplySettings {
  /** Name of the field of format e-mail that has the address. */
  readonly field: string;
  /** With {@link PLACEHOLDERS}; null is ours, in the language of the endpoint. */
  readonly subject: string | null;
  /** In several lines, with {@link PLACEHOLDERS}; null is ours, in the language of the endpoint. */
  readonly text: string | null;
  /** The recipient of the endpoint that gets the answers; null if nobody does. */
  readonly replyToId: string | null;
}

/**
 * What may stand in braces in a subject and a text; `form` and `endpoint` are one name in the words of the dashboard and of the command
 * line. Never a field: a stranger would choose what is sent to somebody else.
 */
export const PLACEHOLDERS = ["form", "endpoint", "reference", "time"] as const;

/** Characters of a subject's template. */
export const MAX_REPLY_SUBJECT_LENGTH = 200;
export const MAX_REPLY_TEXT_LENGTH = 4000;

/** No post with a higher spam score gets a reply: its address may be that of somebody else. */
export const MAX_REPLIED_SCORE = 25;

/** @param recipient its row in the outbox. */
export function onSince({ state, confirmedAt }: Pick<Recipient, "state" | "confirmedAt">): number | null {
  return state === "enabled" ? confirmedAt : null;
}
