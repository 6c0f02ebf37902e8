import type { Steps } from "../database/steps.ts";
import { toIsoTime } from "../foundation/clock.ts";
import { FormsvcError } from "../foundation/errors.ts";
import { type Channel, replayOf } from "../outbox/queue/channel-deliveries.ts";
import { type Attempt, DELIVERY_STATES, isGathered } from "../outbox/queue/delivery.ts";
import { attemptJson, deliveryJson, type ListedDelivery } from "../outbox/queue/delivery-json.ts";
import { type DeliveryFilter, leadOf, MAX_DELIVERY_PAGE } from "../outbox/queue/delivery-store.ts";
import type { ReplayRange } from "../outbox/queue/replay-deliveries.ts";
import { parseCount, parseTime } from "./arguments.ts";
import { type AnyCommand, command } from "./command.ts";
import { withDatabase } from "./open.ts";
import { endpointIdOf } from "./submission-filter.ts";

const DEFAULT_PAGE_SIZE = 25;

/** How the commands of one kind of recipient speak. */
interface DeliveryWords {
  /** The command that they belong to. */
  readonly noun: "webhook" | "mail";
  /** A recipient of this kind: the name of the flag that names one, too. */
  readonly recipient: "webhook" | "recipient";
  /** What a message is called that receivers would drop if it came again. */
  readonly messageId: string;
  /** What else is to be known of a delivery; null for nothing. */
  readonly noteOf: (delivery: ListedDelivery, attempts: readonly Attempt[]) => string | null;
  /** Newest first. @throws not_found when the named recipient or submission is not there; invalid_request on a foreign cursor */
  readonly list: (filter: Omit<DeliveryFilter, "kinds">) => Steps<ListedPage>;
  /** @throws not_found */
  readonly get: (id: string) => Steps<ListedWhole>;
  /** @throws conflict if it is never sent again by hand */
  readonly checkReplay: (id: string) => Steps<void>;
}

interface ListedPage {
  readonly deliveries: readonly ListedDelivery[];
  readonly nextCursor: string | null;
}

export interface ListedWhole {
  readonly delivery: ListedDelivery;
  /** In the order in which they were made. */
  readonly attempts: readonly Attempt[];
}

/** `deliveries`, `attempts` and `replay` of one kind of recipient. */
export function deliveryCommands<Actor>(channel: Channel<Actor>, words: DeliveryWords): AnyCommand[] {
  return [deliveriesOf(words), attemptsOf(words), replayCommandOf(channel, words)];
}

function deliveriesOf({ noun, recipient, list }: DeliveryWords): AnyCommand {
  return command({
    usage: "deliveries",
    summary: "List deliveries, newest first",
    options: [
      recipientOption(recipient),
      { flags: "--endpoint <endpoint>", summary: "only those of this endpoint" },
      { flags: "--submission <submission>", summary: "only this submission's" },
      { flags: "--state <state>", summary: "only those in this state", choices: DELIVERY_STATES },
      {
        flags: "--limit <count>",
        summary: `how many, 1 to ${MAX_DELIVERY_PAGE} (default: ${DEFAULT_PAGE_SIZE})`,
        parse: parseCount(MAX_DELIVERY_PAGE),
      },
      { flags: "--cursor <cursor>", summary: "the next_cursor of the page before" },
    ],
    examples: [
      `formsvc ${noun} deliveries --state failed`,
      `formsvc ${noun} deliveries --submission sub_… --json`,
    ],
    action: (context, options) =>
      withDatabase(context, async (db) => {
        const { submission: submissionId, state, cursor, limit } = options;
        const recipientId = options[recipient];
        const page = await db.read(function* () {
          const endpointId = yield* endpointIdOf(options.endpoint);
          const narrowed = { recipientId, endpointId, submissionId, state, cursor };
          return yield* list({ ...narrowed, limit: limit ?? DEFAULT_PAGE_SIZE });
        });
        if (context.output.isJson) {
          const data = page.deliveries.map((one) => deliveryJson(one, `${recipient}_id`));
          return context.output.json({ data, next_cursor: page.nextCursor });
        }
        const isMail = recipient === "recipient";
        const headings = [...headingsOf(recipient), ...(isMail ? ["SUMMARY"] : [])];
        const rows = page.deliveries.map((delivery) => {
          const { others } = delivery;
          const summary = isMail ? [others === 0 ? "" : togetherWords(others)] : [];
          return [...toRow(delivery), ...summary];
        });
        context.output.table(headings, rows, "no deliveries");
        if (page.nextCursor !== null) context.output.note(`more with: --cursor ${page.nextCursor}`);
        return undefined;
      }),
  });
}

function attemptsOf({ noun, recipient, noteOf, get }: DeliveryWords): AnyCommand {
  return command({
    usage: "attempts <delivery>",
    summary: "Show every attempt of a delivery and its result",
    examples: [`formsvc ${noun} attempts msg_01h455vb4pex5vsknk084sn02q`],
    action: (context, _options, [id]) =>
      withDatabase(context, async (db) => {
        const { delivery, attempts: made } = await db.read(() => get(id));
        if (context.output.isJson) {
          const shown = deliveryJson(delivery, `${recipient}_id`);
          return context.output.json({ delivery: shown, data: made.map(attemptJson) });
        }
        const rows = made.map((attempt) => [
          `${attempt.number}${attempt.isProbe ? " (probe)" : ""}`,
          toIsoTime(attempt.startedAt),
          `${attempt.durationMs} ms`,
          attempt.outcome,
          saidIn(attempt),
        ]);
        context.output.table(["ATTEMPT", "BEGUN", "TOOK", "OUTCOME", ""], rows, "no attempts yet");
        context.output.note(`${delivery.state}${planOf(delivery, context.clock.now())}`);
        const { others } = delivery;
        if (others > 0)
          context.output.note(
            `in the summary ${leadOf(delivery)}, ${togetherWords(others)}; its attempts are shown`,
          );
        const more = noteOf(delivery, made);
        if (more !== null) context.output.note(more);
        return undefined;
      }),
  });
}

function replayCommandOf<Actor>(
  channel: Channel<Actor>,
  { noun, recipient, messageId, checkReplay }: DeliveryWords,
): AnyCommand {
  return command({
    usage: "replay [delivery]",
    summary: "Send again: one delivery, all that failed, or a range of time",
    options: [
      { flags: "--failed", summary: "every delivery that failed for good" },
      recipientOption(recipient),
      {
        flags: "--since <time>",
        summary: "messages made from then on: 2026-01-31T12:00:00Z, or 24h ago",
        parse: parseTime,
      },
      { flags: "--until <time>", summary: "messages made before then", parse: parseTime },
      {
        flags: "--as-new",
        summary: `with a new ${messageId}, so that the receiver acts on it again; only what was delivered or failed`,
      },
      { flags: "--dry-run", summary: "only say how many it would be" },
    ],
    examples: [
      `formsvc ${noun} replay msg_01h455vb4pex5vsknk084sn02q`,
      `formsvc ${noun} replay --failed --dry-run`,
      `formsvc ${noun} replay --since 24h --as-new`,
    ],
    action: (context, options, [id]) =>
      withDatabase(context, async (db) => {
        const { failed: failedOnly, since, until, asNew, dryRun } = options;
        const range = { recipientId: options[recipient], failedOnly, since, until };
        if (id === undefined) requireRange(range);
        else {
          refuseRange(range);
          await db.read(() => checkReplay(id));
        }
        const replayed = await replayOf(channel, db, {
          what: id ?? range,
          asNew,
          dryRun,
          actor: null,
          now: context.clock.now(),
        });
        if (context.output.isJson) return context.output.json(replayed);
        if (dryRun) return context.output.line(`would be sent again: ${replayed.matched}`);
        return context.output.line(replayed.id ?? `to be sent again: ${replayed.replayed}`);
      }),
  });
}

/** Its value is under either name, and null under the one that there is no flag for. */
function recipientOption(recipient: DeliveryWords["recipient"]) {
  const option = { flags: `--${recipient} <${recipient}>`, summary: `only this ${recipient}'s` };
  return option as typeof option & { readonly flags: "--webhook <webhook>" | "--recipient <recipient>" };
}

type Range = Omit<ReplayRange, "kind">;

function requireRange({ failedOnly, since, until }: Range): void {
  if (failedOnly || since !== null || until !== null) return;
  throw new FormsvcError("usage", "Name a delivery, or give --failed, --since or --until.");
}

function refuseRange(range: Range): void {
  if (!range.failedOnly && range.recipientId === null && range.since === null && range.until === null) return;
  throw new FormsvcError("usage", "Name one delivery or give a range, not both.");
}

const HEADINGS = ["SUBMISSION", "STATE", "ATTEMPTS", "STATUS", "NEXT ATTEMPT"];

/** An answer that the message quotes is not said twice. */
function saidIn({ message, answer }: Attempt): string {
  const isQuoted = answer === null || message?.includes(answer);
  return [message ?? "", isQuoted ? "" : answer].join(" ").trim();
}

function planOf(delivery: ListedDelivery, now: number): string {
  if (delivery.dueAt === null) return "";
  const at = toIsoTime(delivery.dueAt);
  return isGathered(delivery, now)
    ? `: gathered with others, which go as one at ${at}`
    : `; the next attempt is planned for ${at}`;
}

function togetherWords(others: number): string {
  return others === 1 ? "with 1 other" : `with ${others} others`;
}

function headingsOf(recipient: DeliveryWords["recipient"]): string[] {
  const kind = recipient === "webhook" ? [] : ["KIND"];
  return ["ID", recipient.toUpperCase(), ...kind, ...HEADINGS];
}

function toRow(delivery: ListedDelivery): string[] {
  const { kind } = delivery;
  return [
    delivery.id,
    delivery.recipientId ?? "",
    ...(kind === undefined ? [] : [kind]),
    delivery.submissionId ?? "",
    delivery.state,
    String(delivery.attempts),
    delivery.lastStatus === null ? "" : String(delivery.lastStatus),
    delivery.dueAt === null ? "" : toIsoTime(delivery.dueAt),
  ];
}
