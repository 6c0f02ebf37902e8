import type { Logger as Log } from "pino";

/** The events of messages to recipients, and of letters. `events.ts` has the others. */

/** What the log says about every attempt. */
interface AnyAttemptFacts {
  readonly deliveryId: string;
  readonly attempt: number;
  readonly outcome: string;
  readonly durationMs: number;
}

/** What the log says about one attempt of a webhook. */
export interface AttemptFacts extends AnyAttemptFacts {
  readonly webhookId: string;
}

export function webhookAttempted(log: Log, facts: AttemptFacts, message: string): void {
  log.debug({ event: "webhook.attempt", ...facts }, message);
}

export function webhookFailed(log: Log, facts: AttemptFacts): void {
  log.error({ event: "webhook.failed", ...facts }, "a delivery ran out of attempts");
}

export function webhookStopped(log: Log, facts: AttemptFacts): void {
  log.error({ event: "webhook.stopped", ...facts }, "the receiver is gone: its deliveries are held");
}

export function webhookFailing(
  log: Log,
  facts: AttemptFacts & { readonly failingSince: number | null },
): void {
  log.warn({ event: "webhook.failing", ...facts }, "the receiver keeps failing: probes only");
}

export function webhookLocked(log: Log, webhookId: string, reason: string): void {
  log.error({ event: "webhook.locked", webhookId, reason }, "its secrets do not open: nothing is sent there");
}

/** What the log says about one attempt of an e-mail. */
export interface MailAttemptFacts extends AnyAttemptFacts {
  readonly recipientId: string;
  /** The number of submissions that the e-mail is about. */
  readonly submissions: number;
}

export function mailAttempted(log: Log, facts: MailAttemptFacts, message: string): void {
  log.debug({ event: "mail.attempt", ...facts }, message);
}

export function mailFailed(log: Log, facts: MailAttemptFacts): void {
  log.error({ event: "mail.failed", ...facts }, "an e-mail is not tried again");
}

export function mailStopped(log: Log, facts: MailAttemptFacts): void {
  log.error(
    { event: "mail.stopped", ...facts },
    "the recipient refused several e-mails: the next ones are held",
  );
}

/** @param facts `reason` says what failed and what to do. */
export function mailWaiting(
  log: Log,
  facts: { readonly place: string; readonly outcome: string; readonly reason: string },
): void {
  log.warn({ event: "mail.waiting", ...facts }, "the mail server takes nothing: all e-mail waits");
}

export function deliveriesRecovered(log: Log, recovered: number): void {
  log.warn({ event: "delivery.recovered", recovered }, "interrupted deliveries go out again");
}

export function deliveriesWaiting(log: Log, err: unknown): void {
  log.warn({ event: "delivery.waiting", err }, "deliveries wait for the database");
}

export function attemptRejected(
  log: Log,
  facts: { readonly deliveryId: string; readonly attempt: number },
  err: unknown,
): void {
  log.error({ event: "delivery.defect", ...facts, err }, "a defect ended an attempt");
}

/** Logged at the start. */
export function mailPasswordInClear(log: Log, facts: { readonly host: string }): void {
  log.warn(
    { event: "mail.password-in-clear", ...facts },
    "with mail.security auto the password is sent to this machine in clear text: set mail.security",
  );
}

/** The log names a letter by its kind alone. Its recipient and its text stay out of the log. */
interface LetterFacts {
  readonly kind: string;
  readonly attempts: number;
}

export function letterSent(log: Log, facts: LetterFacts): void {
  log.info({ event: "letter.sent", ...facts }, "the mail server took a letter");
}

/** @param facts `reason` is the step that failed, with the code of the mail server or of the operating system. */
export function letterDelayed(log: Log, facts: LetterFacts & { readonly reason: string }): void {
  log.warn({ event: "letter.delayed", ...facts }, "the mail server did not take a letter: it is tried again");
}

export function letterFailed(log: Log, facts: LetterFacts & { readonly reason: string }): void {
  log.error({ event: "letter.failed", ...facts }, "a letter was not sent");
}

/** The database failed while letters were read or recorded; the server tries again a second later. */
export function lettersWait(log: Log, err: unknown): void {
  log.warn({ event: "letter.waits", err }, "the database did not give or take a letter: it is asked again");
}

export function letterRefused(log: Log, facts: { readonly kind: string; readonly why: string }): void {
  log.warn({ event: "letter.refused", ...facts }, "a letter was asked for and is not sent");
}
