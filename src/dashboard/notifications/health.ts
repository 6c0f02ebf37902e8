import { html, type Html } from "../../foundation/html.ts";
import { MAX_COUNTED, type RecipientQueue } from "../../outbox/queue/count-deliveries.ts";
import { dueTime, exactTime } from "../kit/time.ts";

/** The health of a recipient, for people who know nothing about breakers and queues. */
export interface Health {
  readonly label: string;
  readonly tone: "done" | "medium" | "high" | "";
  /** What the state means, and what to do about it if anything is to be done. */
  readonly sentence: Html;
  /** Whether waiting messages are tried again later, and may be tried now. */
  readonly triesLater?: boolean;
}

export function healthPill({ label, tone }: Health): Html {
  return html`<span class="pill ${tone}">${label}</span>`;
}

/** @param path the path of the recipient's page */
export function healthCard(
  path: string,
  { sentence, triesLater = false }: Health,
  queue: RecipientQueue,
  now: number,
): Html {
  return html`<section class="card">
    <header><h2>Health</h2></header>
    <div class="body">
      <p>${sentence}</p>
      <p>${queueSentence(queue, now)}</p>
      ${triesLater && queue.waiting > 0 && html`<form method="post" action="${path}/try"><button>Try now</button></form>`}
      ${queue.failed > 0 && replayFailed(path)}
    </div>
  </section>`;
}

function replayFailed(path: string): Html {
  return html`<form method="post" action="${path}/replay">
    <button name="which" value="failed">Send all that were given up again</button>
  </form>`;
}

/** The waiting messages, in a sentence. */
function queueSentence(queue: RecipientQueue, now: number): Html {
  const { waiting, oldestAt, held, failed } = queue;
  const until = gatheringUntil(queue, now);
  const parts = [
    waiting > 0 &&
      until === null &&
      html`${counted(waiting)} to be sent${oldestAt === null ? null : html`, the oldest from ${exactTime(oldestAt)}`}.`,
    until !== null &&
      html`${counted(waiting)} gathered, and ${waiting === 1 ? "goes" : "go"} as one e-mail ${dueTime(until)}, with those that come until then.`,
    held > 0 && html`${counted(held)} kept until you start sending again.`,
    failed > 0 && html`${counted(failed)} given up.`,
  ].filter((part) => part !== false);
  if (parts.length === 0) return html`Nothing waits.`;
  return html`${parts.map((part) => html`${part} `)}`;
}

/** The state of a queue in a cell of a table. */
export function queueCell(queue: RecipientQueue, now: number): Html {
  const { waiting, held, failed } = queue;
  const parts = [
    waiting > 0 && `${most(waiting)} ${gatheringUntil(queue, now) === null ? "waiting" : "gathered"}`,
    held > 0 && `${most(held)} kept`,
    failed > 0 && `${most(failed)} given up`,
  ].filter((part) => part !== false);
  return parts.length === 0 ? html`<span class="muted">nothing</span>` : html`${parts.join(", ")}`;
}

/** When the gathered messages are sent as one; null if none are gathered. */
function gatheringUntil({ waiting, gathersUntil }: RecipientQueue, now: number): number | null {
  return waiting > 0 && gathersUntil !== null && gathersUntil > now ? gathersUntil : null;
}

function counted(count: number): string {
  return count === 1 ? "One message is" : `${most(count)} messages are`;
}

function most(count: number): string {
  return count > MAX_COUNTED ? "more than 10,000" : String(count);
}
