import { attemptJson, deliveryJson } from "../outbox/delivery-json.ts";
import { toIsoTime } from "../foundation/clock.ts";
import { FormsvcError } from "../foundation/errors.ts";
import { type Delivery, DELIVERY_STATES } from "../outbox/delivery.ts";
import { getDelivery, listAttempts, MAX_DELIVERY_PAGE } from "../outbox/delivery-store.ts";
import type { ReplayRange } from "../outbox/replay-deliveries.ts";
import { listWebhookDeliveries, replay } from "../webhooks/webhook-deliveries.ts";
import { parseCount, parseTime } from "./arguments.ts";
import { command } from "./command.ts";
import { withDatabase } from "./open.ts";

const DEFAULT_PAGE_SIZE = 25;
const webhookOption = { flags: "--webhook <webhook>", summary: "only this webhook's" } as const;

export const deliveries = command({
  usage: "deliveries",
  summary: "List deliveries, newest first",
  options: [
    webhookOption,
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
    "formsvc webhook deliveries --state failed",
    "formsvc webhook deliveries --submission sub_… --json",
  ],
  action: (context, options) =>
    withDatabase(context, async (db) => {
      const { webhook: recipientId, submission: submissionId, state, cursor, limit } = options;
      const filter = { recipientId, submissionId, state, cursor, limit: limit ?? DEFAULT_PAGE_SIZE };
      const page = await db.read(() => listWebhookDeliveries(filter));
      if (context.output.isJson) {
        return context.output.json({ data: page.deliveries.map(deliveryJson), next_cursor: page.nextCursor });
      }
      context.output.table(HEADINGS, page.deliveries.map(toRow), "no deliveries");
      if (page.nextCursor !== null) context.output.note(`more with: --cursor ${page.nextCursor}`);
      return undefined;
    }),
});

export const attempts = command({
  usage: "attempts <delivery>",
  summary: "Show every attempt of a delivery and its result",
  examples: ["formsvc webhook attempts msg_01h455vb4pex5vsknk084sn02q"],
  action: (context, _options, [id]) =>
    withDatabase(context, async (db) => {
      const delivery = await db.read(() => getDelivery(id));
      const made = await db.read(() => listAttempts(id));
      if (context.output.isJson) {
        return context.output.json({ delivery: deliveryJson(delivery), data: made.map(attemptJson) });
      }
      const rows = made.map((attempt) => [
        `${attempt.number}${attempt.isProbe ? " (probe)" : ""}`,
        toIsoTime(attempt.startedAt),
        `${attempt.durationMs} ms`,
        attempt.outcome,
        [attempt.message ?? "", attempt.answer ?? ""].join(" ").trim(),
      ]);
      context.output.table(["ATTEMPT", "BEGUN", "TOOK", "OUTCOME", ""], rows, "no attempts yet");
      const next =
        delivery.dueAt === null ? "" : `; the next attempt is planned for ${toIsoTime(delivery.dueAt)}`;
      return context.output.note(`${delivery.state}${next}`);
    }),
});

export const replayCommand = command({
  usage: "replay [delivery]",
  summary: "Send again: one delivery, all that failed, or a range of time",
  options: [
    { flags: "--failed", summary: "every delivery that failed for good" },
    webhookOption,
    {
      flags: "--since <time>",
      summary: "messages made from then on: 2026-01-31T12:00:00Z, or 24h ago",
      parse: parseTime,
    },
    { flags: "--until <time>", summary: "messages made before then", parse: parseTime },
    {
      flags: "--as-new",
      summary:
        "with a new webhook-id, so that the receiver acts on it again; only what was delivered or failed",
    },
    { flags: "--dry-run", summary: "only say how many it would be" },
  ],
  examples: [
    "formsvc webhook replay msg_01h455vb4pex5vsknk084sn02q",
    "formsvc webhook replay --failed --dry-run",
    "formsvc webhook replay --since 24h --as-new",
  ],
  action: (context, options, [id]) =>
    withDatabase(context, async (db) => {
      const { webhook: recipientId, failed: failedOnly, since, until, asNew, dryRun } = options;
      const range = { recipientId, failedOnly, since, until };
      if (id === undefined) requireRange(range);
      else refuseRange(range);
      const replayed = await replay(db, {
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

function requireRange({ failedOnly, since, until }: ReplayRange): void {
  if (failedOnly || since !== null || until !== null) return;
  throw new FormsvcError("usage", "Name a delivery, or give --failed, --since or --until.");
}

function refuseRange(range: ReplayRange): void {
  if (!range.failedOnly && range.recipientId === null && range.since === null && range.until === null) return;
  throw new FormsvcError("usage", "Name one delivery or give a range, not both.");
}

const HEADINGS = ["ID", "WEBHOOK", "SUBMISSION", "STATE", "ATTEMPTS", "STATUS", "NEXT ATTEMPT"];

function toRow(delivery: Delivery): string[] {
  return [
    delivery.id,
    delivery.recipientId,
    delivery.submissionId,
    delivery.state,
    String(delivery.attempts),
    delivery.lastStatus === null ? "" : String(delivery.lastStatus),
    delivery.dueAt === null ? "" : toIsoTime(delivery.dueAt),
  ];
}
