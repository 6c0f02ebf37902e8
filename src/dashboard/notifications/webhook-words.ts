import { html } from "../../foundation/html.ts";
import { isListed } from "../../webhooks/address-guard.ts";
import type { Doubt } from "../../webhooks/find-doubt.ts";
import type { Webhook } from "../../webhooks/webhook.ts";
import type { Health } from "./health.ts";
import { sentence } from "../kit/sentence.ts";
import { dueTime, exactTime } from "../kit/time.ts";

/** What is known of a webhook beside its own row. */
export interface WebhookEvidence {
  /** Whether its address is refused, as far as that is known without looking up a name. */
  readonly doubt: Doubt;
  /** Whether a message was sent or tried. */
  readonly wasTried: boolean;
}

export function healthOf(
  { state, failingSince, breaker }: Webhook,
  { doubt, wasTried }: WebhookEvidence,
): Health {
  if (state === "stopped") {
    const sentence = html`The receiver answered twice that it is gone (410), so nothing is sent any more. Submissions
      are kept. If it moved, change the address: then they are sent there. If it is back, start sending again.`;
    return { label: "Stopped", tone: "high", sentence };
  }
  if (state === "disabled") {
    const sentence = html`Sending is paused. New submissions are kept for it, and are sent when you start it again.`;
    return { label: "Paused", tone: "medium", sentence };
  }
  const refused = doubtWords(doubt);
  if (failingSince === null && refused !== null)
    return { label: "Refused", tone: "high", sentence: html`${refused}` };
  // Nobody but operators is told whether an address is refused, so nobody may read that one works before a message arrived.
  if (failingSince === null && !wasTried)
    return {
      label: "Ready",
      tone: "",
      sentence: html`Nothing was sent to it lately. Send a test to see whether it answers.`,
    };
  if (failingSince === null)
    return { label: "Working", tone: "done", sentence: html`No message has failed since the last success.` };
  const next =
    breaker.state === "open"
      ? html` One message at a time is tried, the next ${dueTime(breaker.notBeforeMs)}; the others wait.`
      : html` Each message is tried again by itself.`;
  return {
    label: "Failing",
    tone: "high",
    triesLater: true,
    sentence: html`It has failed since ${exactTime(failingSince)}.${next} Nothing is lost; the attempts of its messages say why.`,
  };
}

/** Why nothing would be sent to this address; null if it is allowed. */
export function doubtWords({ refused, remedy }: Doubt): string | null {
  if (refused === null) return null;
  if (remedy === null) return `${refused} ${NOT_SENT_ADVICE}`;
  const what = sentence(refused);
  return remedy === "list_address"
    ? `${what} Allow it by its exact address in webhooks.allowNetworks.`
    : `${what} Tick “Allow private addresses” if the receiver is yours, or list it in webhooks.allowNetworks.`;
}

export const NOT_SENT_ADVICE =
  "Check its spelling. If it is right, ask the operator of this server to allow it.";

/** Whether this webhook may reach addresses that are not public, by its own permission and by the server's settings. */
export function privateWords(
  { url, allowPrivate }: Webhook["settings"],
  allowNetworks: readonly string[],
): string {
  if (allowPrivate) return "allowed";
  if (allowNetworks.length === 0) return "refused";
  return isListed(new URL(url).hostname, allowNetworks)
    ? "this one is allowed by the operator of this server"
    : "refused, but those that the operator of this server allowed";
}
