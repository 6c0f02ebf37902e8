import { MAX_COUNTED, type RecipientQueue } from "../outbox/count-deliveries.ts";
import { html, type Html } from "../foundation/html.ts";
import type { ReceiverRefusal } from "../webhooks/find-receiver-refusal.ts";
import type { Webhook } from "../webhooks/webhook.ts";
import { dueTime, exactTime } from "./time.ts";

/** How a webhook is doing, for people who know nothing of breakers and queues. */
export interface Health {
  readonly label: string;
  readonly tone: "done" | "medium" | "high" | "";
  /** What it means, and what to do if something is to be done. */
  readonly sentence: Html;
}

export function healthOf({ state, failingSince, breaker }: Webhook): Health {
  if (state === "stopped") {
    const sentence = html`The receiver answered twice that it is gone (410), so nothing is sent any more. Submissions
      are kept. Change the address if it moved, then start sending again.`;
    return { label: "Stopped", tone: "high", sentence };
  }
  if (state === "disabled") {
    const sentence = html`Sending is paused. New submissions are kept for it, and are sent when you start it again.`;
    return { label: "Paused", tone: "medium", sentence };
  }
  if (failingSince === null)
    return { label: "Working", tone: "done", sentence: html`No message has failed since the last success.` };
  const next =
    breaker.state === "open"
      ? html` One message at a time is tried, the next ${dueTime(breaker.notBeforeMs)}; the others wait.`
      : html` Each message is tried again by itself.`;
  return {
    label: "Failing",
    tone: "high",
    sentence: html`It has failed since ${exactTime(failingSince)}.${next} Nothing is lost; the attempts of its messages say why.`,
  };
}

export function healthPill({ label, tone }: Health): Html {
  return html`<span class="pill ${tone}">${label}</span>`;
}

/** What waits, in a sentence. */
export function queueSentence({ waiting, oldestAt, held, failed }: RecipientQueue): Html {
  const parts = [
    waiting > 0 &&
      html`${counted(waiting)} to be sent${oldestAt === null ? null : html`, the oldest from ${exactTime(oldestAt)}`}.`,
    held > 0 && html`${counted(held)} kept until you start sending again.`,
    failed > 0 && html`${counted(failed)} given up after many attempts.`,
  ].filter((part) => part !== false);
  if (parts.length === 0) return html`Nothing waits.`;
  return html`${parts.map((part) => html`${part} `)}`;
}

/** The same in a cell of a table. */
export function queueCell({ waiting, held, failed }: RecipientQueue): Html {
  const parts = [
    waiting > 0 && `${most(waiting)} waiting`,
    held > 0 && `${most(held)} kept`,
    failed > 0 && `${most(failed)} given up`,
  ].filter((part) => part !== false);
  return parts.length === 0 ? html`<span class="muted">nothing</span>` : html`${parts.join(", ")}`;
}

/** Why nothing would be sent to this address, and who can change it. */
export function refusalSentence({ reason, remedy }: ReceiverRefusal, isOperator: boolean): string {
  const what = `Nothing will be sent there: ${reason}.`;
  if (remedy === "list_address")
    return `${what} The operator of this server can allow it by its exact address in webhooks.allowNetworks.`;
  return isOperator
    ? `${what} Tick “Allow private addresses” if the receiver is yours, or list it in webhooks.allowNetworks.`
    : `${what} Ask the operator of this server to allow it.`;
}

function counted(count: number): string {
  return count === 1 ? "One message is" : `${most(count)} messages are`;
}

function most(count: number): string {
  return count > MAX_COUNTED ? "more than 10,000" : String(count);
}
