import type { Config } from "../config/config.ts";
import { html } from "../foundation/html.ts";
import type { Digest, MailRecipient } from "../mail/mail-recipient.ts";
import { stateOf } from "../mail/mail-recipient-json.ts";
import type { Health } from "./health.ts";
import { exactTime } from "./time.ts";

export function recipientHealth(recipient: MailRecipient): Health {
  const { unsubscribedAt, failingSince } = recipient;
  const state = stateOf(recipient);
  if (state === "enabled") return failingSince === null ? WORKING : failing(failingSince);
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

function failing(since: number): Health {
  const sentence = html`It has failed since ${exactTime(since)}. Each e-mail is tried again by itself. Nothing is lost; the
    attempts of its messages say why.`;
  return { label: "Failing", tone: "high", sentence };
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
      are kept. Its messages say why; check the address with its holder, then start sending again.`,
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

/** Why nobody can get e-mail; null if they can. */
export function mailMissing({ mail, server }: Config, isOperator: boolean): string | null {
  if (mail.host !== null && server.baseUrl !== null) return null;
  if (!isOperator) return "E-mail is not set up on this server. Ask whoever runs it.";
  const settings = mail.host === null ? "mail.host, mail.from and server.baseUrl" : "server.baseUrl";
  return `E-mail is not set up on this server. Write ${settings} into the configuration and restart the server; docs/notifications.md has an example.`;
}
