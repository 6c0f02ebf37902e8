import type { Language } from "../languages/language.ts";
import type { Condition } from "../outbox/queue/conditions.ts";
import type { Recipient } from "../outbox/queue/recipient.ts";
import { WEEK_MS } from "../foundation/time-units.ts";

/** The kind of recipient that gets e-mail about submissions. */
export const MAIL_KIND = "mail";

/** `each` submission in an e-mail of its own, or those of an hour or a day in one summary. */
export const DIGESTS = ["each", "hourly", "daily"] as const;
export type Digest = (typeof DIGESTS)[number];

/** A recipient of an endpoint's submissions that is reached by e-mail. */
export interface MailRecipient extends Omit<Recipient, "kind" | "maxSpamScore" | "conditions"> {
  readonly settings: MailRecipientSettings;
  /** Whoever has it may end these e-mails, and nothing else. Every e-mail has it, no other output. */
  readonly unsubscribeToken: string;
  /** When its holder ended these e-mails; null while they are wanted. */
  readonly unsubscribedAt: number | null;
}

export interface MailRecipientSettings {
  /** As `parseMailAddress` returned it. Never changes: whoever agreed holds this address and no other. */
  readonly address: string;
  /** With `{form}` or `{endpoint}`, and `{name of a field}`; null for the built-in one. */
  readonly subject: string | null;
  readonly digest: Digest;
  /** Of its e-mails; null for the endpoint's. */
  readonly language: Language | null;
  /** Whether an e-mail about one submission brings its files, as far as they fit. */
  readonly attach: boolean;
  /** Submissions with a higher spam score are not sent; 0 to 100. */
  readonly maxSpamScore: number;
  /** Only submissions that meet all of them are sent. */
  readonly conditions: readonly Condition[];
}

/** The settings that a new recipient has unless others are chosen. */
export const defaultMailRecipientSettings: Omit<MailRecipientSettings, "address"> = {
  subject: null,
  digest: "each",
  language: null,
  attach: false,
  maxSpamScore: 50,
  conditions: [],
};

/** Characters of a subject's template. */
export const MAX_SUBJECT_TEMPLATE_LENGTH = 200;
/** How long the link works that asks for a confirmation. */
export const CONFIRMATION_MS = WEEK_MS;
