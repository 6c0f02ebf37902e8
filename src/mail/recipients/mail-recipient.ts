import type { Language } from "../../languages/language.ts";
import type { Condition } from "../../outbox/queue/conditions.ts";
import type { Recipient } from "../../outbox/queue/recipient.ts";
import { WEEK_MS } from "../../foundation/time-units.ts";

/** The kind of recipient that gets e-mail about submissions. */
export const MAIL_KIND = "mail";

/** `each`: an e-mail for each submission. `hourly`, `daily`: one summary for the submissions of an hour or a day. */
export const DIGESTS = ["each", "hourly", "daily"] as const;
export type Digest = (typeof DIGESTS)[number];

/** A recipient of an endpoint's submissions that is reached by e-mail. */
export interface MailRecipient extends Omit<Recipient, "kind" | "maxSpamScore" | "conditions"> {
  readonly settings: MailRecipientSettings;
  /** A token that ends these e-mails and does nothing else. Every e-mail to the recipient has it, and no other output. */
  readonly unsubscribeToken: string;
  /** When its holder ended these e-mails; null if they did not. */
  readonly unsubscribedAt: number | null;
}

export interface MailRecipientSettings {
  /** As `parseMailAddress` returned it. It never changes, because the person who agreed holds only this address. */
  readonly address: string;
  /** A template with `{form}` or `{endpoint}`, and `{name of a field}`; null means the built-in one. */
  readonly subject: string | null;
  readonly digest: Digest;
  /** The language of its e-mails; null means that of the endpoint. */
  readonly language: Language | null;
  /** Whether an e-mail about one submission brings its files, as long as they fit. */
  readonly attach: boolean;
  /** Submissions with a higher spam score are not sent; 0 to 100. */
  readonly maxSpamScore: number;
  /** Only submissions that meet all of these conditions are sent. */
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

/** The largest number of characters in the template of a subject. */
export const MAX_SUBJECT_TEMPLATE_LENGTH = 200;
/** How long the link in a confirmation letter works, in milliseconds. */
export const CONFIRMATION_MS = WEEK_MS;
