import { html } from "../../foundation/html.ts";
import type { Digest, MailRecipient } from "../../mail/recipients/mail-recipient.ts";
import { stateOf } from "../../mail/recipients/mail-recipient-state.ts";
import type { Health } from "./health.ts";
import type { DestinationFault } from "../../outbox/sending/destinations.ts";
import { dueTime, exactTime } from "../kit/time.ts";

/** Whether the holder agreed to get e-mail, and has not unsubscribed since. Nobody else is sent anything, not even a test. */
export function isTestable(recipient: MailRecipient): boolean {
  return !["unconfirmed", "unsubscribed"].includes(stateOf(recipient));
}

/** @param fault the fault of the mail server, which makes all e-mail wait; null if it works */
export function recipientHealth(recipient: MailRecipient, fault: DestinationFault | null): Health {
  const { unsubscribedAt, failingSince } = recipient;
  const state = stateOf(recipient);
  if (state === "enabled" && failingSince !== null) return failing(failingSince);
  if (state === "enabled") return fault === null ? WORKING : waitingFor(fault);
  if (state !== "unsubscribed") return RESTING[state];
  const since = unsubscribedAt !== null && html` since ${exactTime(unsubscribedAt)}`;
  const sentence = html`The holder of this address wants no e-mail${since}, so nothing is sent. If they want it again, delete
    this recipient and add it anew: then they are asked.`;
  return { label: "Unsubscribed", tone: "", sentence };
}

const WORKING: Health = {
  label: "Working",
  tone: "done",
  sentence: html`No e-mail has failed since the last success.`,
};

/** The health of a recipient whose e-mail waits for the mail server. */
export function waitingFor({ since, nextProbeAt }: DestinationFault): Health {
  const sentence = html`The mail server takes no e-mail since ${exactTime(since)}. All e-mail waits and goes by itself as soon as it
    does; the next try is ${dueTime(nextProbeAt)}. Nothing is lost.`;
  return { label: "Waiting", tone: "medium", sentence };
}

function failing(since: number): Health {
  const sentence = html`It has failed since ${exactTime(since)}. Each e-mail is tried again by itself. Nothing is lost; the
    attempts of its messages say why.`;
  return { label: "Failing", tone: "high", sentence, triesLater: true };
}

const RESTING: Readonly<Record<"unconfirmed" | "failing" | "disabled", Health>> = {
  unconfirmed: {
    label: "Not agreed yet",
    tone: "medium",
    sentence: html`An e-mail asks the holder of this address whether they want the submissions. Nothing else is sent until
      they agree by its link, which works for 7 days. If it did not arrive, look among the spam, or send it again.`,
  },
  failing: {
    label: "Stopped",
    tone: "high",
    sentence: html`The mail server refused several e-mails in a row to this address, so nothing more is sent. Submissions
      are kept. Its messages say why. If the address is right, ask its holder, then start sending again; if it is wrong, delete
      this recipient and add the right one.`,
  },
  disabled: {
    label: "Paused",
    tone: "medium",
    sentence: html`Sending is paused. New submissions are kept for it, and are sent when you start it again.`,
  },
};

const DIGEST_LABELS: Readonly<Record<Digest, string>> = {
  each: "For each submission",
  hourly: "Once an hour, with all of the hour",
  daily: "Once a day, with all of the day",
};

export function digestLabel(digest: Digest): string {
  return DIGEST_LABELS[digest];
}

/** What to do about a test e-mail that was not sent, by its outcome. */
export function testAdvice(outcome: string): string | null {
  return TEST_ADVICE[outcome] ?? null;
}

/**
 * What to do about the letter that asks the holder, by the outcome of the last attempt. It is tried again unless the mail server refused it
 * for good.
 */
export function questionAdvice(outcome: string): string | null {
  if (outcome === "unsure") return ONCE_MORE;
  if (TRIED_AGAIN.has(outcome)) return "It is tried again by itself.";
  return outcome === "recipient_refused" ? WRONG_ADDRESS : testAdvice(outcome);
}

const TRIED_AGAIN: ReadonlySet<string> = new Set(["deferred", "unreachable", "content_refused"]);
const ONCE_MORE =
  "It goes once more by itself after half an hour. If it is not in the mailbox then, nor among the spam, ask again.";
const WRONG_ADDRESS =
  "Nobody seems to get e-mail at this address. Check its spelling: if it is wrong, delete this recipient and add the right one.";

const OPERATOR_MENDS =
  "Whoever runs this server has to mend its mail settings. E-mail about submissions waits until then.";

const TEST_ADVICE: Readonly<Record<string, string | undefined>> = {
  delivered: "If it does not arrive within some minutes, look among the spam.",
  deferred: "Many mail servers ask to wait at first. Try it again in some minutes.",
  recipient_refused: "Nobody seems to get e-mail at this address. Check its spelling, or ask its holder.",
  content_refused: "The mail server did not want this e-mail. Tell whoever runs this server what it said.",
  relay_refused: OPERATOR_MENDS,
  sender_refused: OPERATOR_MENDS,
  login_refused: OPERATOR_MENDS,
  tls_failed: OPERATOR_MENDS,
  unreachable: "Try it again in some minutes. If it stays so, tell whoever runs this server.",
  unsure: "Look into the mailbox, among the spam too, before you try it again.",
  interrupted: "Try it again in a moment.",
};
