import type { Steps } from "../../database/steps.ts";
import { toIsoTime } from "../../foundation/clock.ts";
import { type Finding, problem, sound } from "../../foundation/finding.ts";
import { countFailed, countFailedAs, hasMessagesFor } from "../../outbox/queue/count-deliveries.ts";
import { findDestinationFault } from "../../outbox/sending/destinations.ts";
import { REPLY_KIND } from "../../outbox/queue/recipient.ts";
import { countFailedLetters } from "../letters/letter-store.ts";
import { MAIL_KIND } from "../recipients/mail-recipient.ts";
import { listMailRecipients } from "../recipients/mail-recipient-store.ts";
import { WEEK_MS } from "../../foundation/time-units.ts";

/** The largest number of recipients that are named. */
const MAX_NAMED = 10;

/** The mail server, as the configuration names it. */
interface MailServer {
  readonly host: string | null;
  readonly port: number;
}

/** The name of the mail server in the routes of transports. */
export function mailServerName({ host, port }: { readonly host: string; readonly port: number }): string {
  return `${host}:${port}`;
}

/** Whether e-mail goes out at present, as the running server has found it. */
export function* checkMailServer({ host, port }: MailServer): Steps<Finding> {
  if (host === null) {
    const isWaiting = (yield* hasMessagesFor(MAIL_KIND)) || (yield* hasMessagesFor(REPLY_KIND));
    if (!isWaiting) return sound("mail.server", "no e-mail waits");
    return problem("mail.server", "e-mail waits and there is no mail server", { kind: "set_mail_server" });
  }
  const fault = yield* findDestinationFault(MAIL_KIND, mailServerName({ host, port }));
  if (fault === undefined) return sound("mail.server", "the mail server keeps nothing waiting");
  const since = `since ${toIsoTime(fault.since)}, next try at ${toIsoTime(fault.nextProbeAt)}`;
  return problem("mail.server", `all e-mail waits ${since}. ${fault.message}`, { kind: "check_mail_server" });
}

/**
 * A finding for each recipient that is stopped because its server refused several messages for good. If there is none, a single sound
 * finding.
 */
export function* checkMailRecipients(): Steps<Finding[]> {
  const stopped = (yield* listMailRecipients(null)).filter(({ state }) => state === "stopped");
  if (stopped.length === 0) return [sound("mail.recipients", "no recipient refuses e-mail")];
  const findings = stopped.slice(0, MAX_NAMED).map(({ id, settings }) =>
    problem(
      "mail.recipients",
      `${settings.address} gets nothing: several e-mails to it were refused for good (${id})`,
      {
        kind: "look_at_recipient",
        recipientId: id,
      },
    ),
  );
  const more = stopped.length - findings.length;
  return more === 0
    ? findings
    : [
        ...findings,
        problem("mail.recipients", `${more} more recipients get nothing`, { kind: "list_recipients" }),
      ];
}

/**
 * Letters to owners or to the operator that were given up lately. Questions to holders of addresses are left out: the account that asked
 * sees those.
 */
export function* checkFailedLetters(now: number): Steps<Finding> {
  const failed = yield* countFailedLetters(now - LATELY_MS);
  if (failed === 0) return sound("mail.letters", "no letter to an owner or the operator was given up");
  return problem(
    "mail.letters",
    `${failed} ${failed === 1 ? "letter" : "letters"} to owners or the operator were given up within a week`,
    "see what the mail server said of them, and mend the address or the settings under mail",
  );
}

const LATELY_MS = WEEK_MS;

const UNSURE =
  "the mail server ended the connection after the content, twice. Look into its log, and into a scanner or firewall before it";

/** E-mails that ran out of attempts or were refused for good, and wait for somebody to replay them. */
export function* checkFailedMail(): Steps<Finding> {
  const failed = yield* countFailed(MAIL_KIND);
  if (failed === 0) return sound("mail.failed", "no e-mail failed for good");
  const unsure = yield* countFailedAs(MAIL_KIND, "unsure");
  const said = unsure === 0 ? "" : `; ${unsure} of them may have arrived: ${UNSURE}`;
  const what = failed === 1 ? "e-mail" : "e-mails";
  return problem("mail.failed", `${failed} ${what} failed for good${said}`, { kind: "replay_failed_mail" });
}
