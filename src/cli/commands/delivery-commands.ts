import type { z } from "zod";
import { toIsoTime } from "../../foundation/clock.ts";
import { FormsvcError } from "../../foundation/errors.ts";
import { listMailDeliveries, replayMail, showMailDelivery } from "../../mail/mail-deliveries.ts";
import { DELIVERY_STATES, isGathered } from "../../outbox/queue/delivery.ts";
import type { replayedShape } from "../../recipients/replay-recipients.ts";
import {
  listWebhookDeliveries,
  replayWebhook,
  showWebhookDelivery,
} from "../../webhooks/webhook-deliveries.ts";
import { parseTime } from "../flags/arguments.ts";
import { type AnyCommand, command, type CommandContext } from "../command.ts";
import { linkParts } from "../output/link-parts.ts";
import { operate } from "../operate.ts";
import { noteNextPage, pageOf, pageOptions } from "../flags/page-options.ts";
import type { PerformCommand } from "../output/terminal.ts";

type Listed = z.output<(typeof listMailDeliveries | typeof listWebhookDeliveries)["output"]>;
type Whole = z.output<(typeof showMailDelivery | typeof showWebhookDelivery)["output"]>;
type ListedDelivery = Whole["delivery"];
type ListedAttempt = Whole["data"][number];

/** The filters of a list, except the recipient. */
interface ListRequest {
  readonly endpoint: string | null;
  readonly submission: string | null;
  readonly state: (typeof DELIVERY_STATES)[number] | null;
  readonly limit: number;
  readonly cursor: string | null;
}

/** What is sent again, except the recipient. */
interface ReplayRequest {
  readonly delivery: string | null;
  readonly failed: boolean;
  readonly since: string | null;
  readonly until: string | null;
  readonly as_new: boolean;
  readonly dry_run: boolean;
}

/** The words of the commands about one kind of recipient, and the operations that they call. */
interface DeliveryWords {
  /** The word for a recipient of this kind. It is also the name of the flag that names one. */
  readonly recipient: "webhook" | "recipient";
  /** The name of the message's id, by which receivers drop a message that comes twice. */
  readonly messageId: string;
  /** A further note about a delivery; null for none. */
  readonly noteOf: (delivery: ListedDelivery, attempts: readonly ListedAttempt[]) => string | null;
  readonly list: (
    perform: PerformCommand,
    recipientId: string | null,
    request: ListRequest,
  ) => Promise<Listed>;
  readonly show: (perform: PerformCommand, delivery: string) => Promise<Whole>;
  readonly replay: (
    perform: PerformCommand,
    recipientId: string | null,
    request: ReplayRequest,
  ) => Promise<z.output<typeof replayedShape>>;
}

/** By the noun of the commands. */
const WORDS: Readonly<Record<"webhook" | "mail", DeliveryWords>> = {
  webhook: {
    recipient: "webhook",
    messageId: "webhook-id",
    noteOf: () => null,
    list: (perform, webhook, request) => perform(listWebhookDeliveries, { webhook, ...request }),
    show: (perform, delivery) => perform(showWebhookDelivery, { delivery }),
    replay: (perform, webhook, request) => perform(replayWebhook, { webhook, ...request }, linkParts),
  },
  mail: {
    recipient: "recipient",
    messageId: "Message-ID",
    noteOf: noteOfMail,
    list: (perform, recipient, request) => perform(listMailDeliveries, { recipient, ...request }),
    show: (perform, delivery) => perform(showMailDelivery, { delivery }),
    replay: (perform, recipient, request) => perform(replayMail, { recipient, ...request }),
  },
};
type Noun = keyof typeof WORDS;

function noteOfMail(delivery: ListedDelivery, attempts: readonly ListedAttempt[]): string | null {
  const { id, state } = delivery;
  if ("kind" in delivery && delivery.kind === "autoreply")
    return "an automatic reply is never sent a second time";
  // It is not known how the last attempt ended.
  const mayHaveArrived = ["unsure", "interrupted"].includes(attempts.at(-1)?.outcome ?? "");
  if (state !== "failed" || !mayHaveArrived) return null;
  return `it may have arrived, so it is not sent again by itself; if it did not: formsvc mail replay ${id}`;
}

/** The commands `deliveries`, `attempts` and `replay` for one kind of recipient. */
export function deliveryCommands(noun: Noun): AnyCommand[] {
  return [deliveriesOf(noun), attemptsOf(noun), replayCommandOf(noun)];
}

function deliveriesOf(noun: Noun): AnyCommand {
  const { recipient, list } = WORDS[noun];
  return command({
    usage: "deliveries",
    summary: "List deliveries, newest first",
    options: [
      recipientOption(recipient),
      { flags: "--endpoint <endpoint>", summary: "only deliveries of this endpoint" },
      { flags: "--submission <submission>", summary: "only deliveries about this submission" },
      { flags: "--state <state>", summary: "only deliveries in this state", choices: DELIVERY_STATES },
      ...pageOptions,
    ],
    examples: [
      `formsvc ${noun} deliveries --state failed`,
      `formsvc ${noun} deliveries --submission sub_… --json`,
    ],
    action: (context, options) =>
      operate(context, async ({ perform }) => {
        const { endpoint, submission, state } = options;
        const request = { endpoint, submission, state, ...pageOf(options) };
        printList(context, recipient, await list(perform, options[recipient], request));
      }),
  });
}

function printList({ output }: CommandContext, recipient: DeliveryWords["recipient"], listed: Listed): void {
  if (output.isJson) return output.json(listed);
  const rows = listed.data.map(toRow);
  output.table(headingsOf(recipient), rows, "no deliveries");
  return noteNextPage(output, listed);
}

function attemptsOf(noun: Noun): AnyCommand {
  const { noteOf, show } = WORDS[noun];
  return command({
    usage: "attempts <delivery>",
    summary: "Show every attempt of a delivery and its result",
    examples: [`formsvc ${noun} attempts msg_01h455vb4pex5vsknk084sn02q`],
    action: (context, _options, [id]) =>
      operate(context, async ({ perform }) => {
        const whole = await show(perform, id);
        if (context.output.isJson) return context.output.json(whole);
        const { delivery, data } = whole;
        const rows = data.map((attempt) => [
          `${attempt.number}${attempt.probe ? " (probe)" : ""}`,
          attempt.started_at,
          `${attempt.duration_ms} ms`,
          attempt.outcome,
          saidIn(attempt),
        ]);
        context.output.table(["ATTEMPT", "BEGUN", "TOOK", "OUTCOME", ""], rows, "no attempts yet");
        context.output.note(`${delivery.state}${planOf(delivery, context.clock.now())}`);
        if ("others" in delivery && delivery.others > 0) {
          const lead = delivery.summary_id ?? delivery.id;
          const together = togetherWords(delivery.others);
          context.output.note(`in the summary ${lead}, ${together}; its attempts are shown`);
        }
        const more = noteOf(delivery, data);
        if (more !== null) context.output.note(more);
        return undefined;
      }),
  });
}

function replayCommandOf(noun: Noun): AnyCommand {
  const { recipient, messageId, replay } = WORDS[noun];
  return command({
    usage: "replay [delivery]",
    summary: "Send deliveries again: one of them, all that failed, or those of a time range",
    options: [
      { flags: "--failed", summary: "send every delivery again that failed for good" },
      recipientOption(recipient),
      {
        flags: "--since <time>",
        summary: "only messages made since this time: 2026-01-31T12:00:00Z, or 24h for the last 24 hours",
        parse: parseTime,
      },
      { flags: "--until <time>", summary: "only messages made before this time", parse: parseTime },
      {
        flags: "--as-new",
        summary: `send with a new ${messageId}, so that the receiver acts on it again; only for messages that were delivered or failed`,
      },
      { flags: "--dry-run", summary: "only say how many would be sent again" },
    ],
    examples: [
      `formsvc ${noun} replay msg_01h455vb4pex5vsknk084sn02q`,
      `formsvc ${noun} replay --failed --dry-run`,
      `formsvc ${noun} replay --since 24h --as-new`,
    ],
    action: (context, options, [id]) =>
      operate(context, async ({ perform }) => {
        const { failed, since, until, asNew, dryRun } = options;
        const recipientId = options[recipient];
        const isRange = failed || since !== null || until !== null;
        if (id === undefined && !isRange)
          throw new FormsvcError("usage", "name a delivery, or give --failed, --since or --until");
        if (id !== undefined && (isRange || recipientId !== null))
          throw new FormsvcError("usage", "name one delivery or give a range, not both");
        const what = { delivery: id ?? null, failed, ...timesOf(since, until) };
        const replayed = await replay(perform, recipientId, { ...what, as_new: asNew, dry_run: dryRun });
        if (context.output.isJson) return context.output.json(replayed);
        if (dryRun) return context.output.line(`would be sent again: ${replayed.matched}`);
        return context.output.line(replayed.id ?? `to be sent again: ${replayed.replayed}`);
      }),
  });
}

function timesOf(since: number | null, until: number | null): Pick<ReplayRequest, "since" | "until"> {
  return {
    since: since === null ? null : toIsoTime(since),
    until: until === null ? null : toIsoTime(until),
  };
}

/** The flag that names a recipient. Its value is read under either name; the name without a flag has null. */
function recipientOption(recipient: DeliveryWords["recipient"]) {
  const option = { flags: `--${recipient} <${recipient}>`, summary: `only deliveries to this ${recipient}` };
  return option as typeof option & { readonly flags: "--webhook <webhook>" | "--recipient <recipient>" };
}

const HEADINGS = ["SUBMISSION", "STATE", "ATTEMPTS", "STATUS", "NEXT ATTEMPT"];

/** What the other side answered, if the message does not quote it already. */
function saidIn({ message, answer }: ListedAttempt): string {
  const isQuoted = answer === null || message?.includes(answer);
  return [message ?? "", isQuoted ? "" : answer].join(" ").trim();
}

function planOf({ state, attempts, next_attempt_at: at }: ListedDelivery, now: number): string {
  if (at === null) return "";
  return isGathered({ state, attempts, dueAt: Date.parse(at) }, now)
    ? `: gathered with others, which go as one at ${at}`
    : `; the next attempt is planned for ${at}`;
}

function togetherWords(others: number): string {
  return others === 1 ? "with 1 other" : `with ${others} others`;
}

function headingsOf(recipient: DeliveryWords["recipient"]): string[] {
  if (recipient === "webhook") return ["ID", "WEBHOOK", ...HEADINGS];
  return ["ID", "RECIPIENT", "KIND", ...HEADINGS, "SUMMARY"];
}

function toRow(delivery: ListedDelivery): string[] {
  const common = [
    delivery.submission_id ?? "",
    delivery.state,
    String(delivery.attempts),
    delivery.last_status === null ? "" : String(delivery.last_status),
    delivery.next_attempt_at ?? "",
  ];
  if ("webhook_id" in delivery) return [delivery.id, delivery.webhook_id, ...common];
  const { id, recipient_id: recipientId, kind, others } = delivery;
  return [id, recipientId ?? "", kind, ...common, others === 0 ? "" : togetherWords(others)];
}
