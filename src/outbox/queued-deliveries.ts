import { query } from "../database/database.ts";
import { all, first, type Steps, text } from "../database/steps.ts";
import type { Delivery } from "./delivery.ts";
import type { QueuedMessage } from "./outbox.ts";
import type { WebhookState } from "../webhooks/webhook.ts";

/** Rows of the outbox that are read at once. */
const ROWS_AT_ONCE = 100;

/**
 * Hands everything that waits in the outbox to `look`, oldest first, as the deliveries that it will be, until that
 * returns true.
 *
 * @param webhookId null is every webhook.
 */
export function* lookThroughQueued(
  webhookId: string | null,
  look: (delivery: Delivery) => boolean,
): Steps<void> {
  let after = 0;
  for (;;) {
    const rows = yield* all(selectRows(webhookId, after));
    for (const row of rows) {
      for (const [id, submissionId] of JSON.parse(row.messages) as QueuedMessage[]) {
        const submission = yield* first(text("SELECT 1 FROM submission WHERE id = ?", submissionId));
        if (submission !== undefined && look(toDelivery(row, id, submissionId))) return;
      }
      after = row.number;
    }
    if (rows.length < ROWS_AT_ONCE) return;
  }
}

function toDelivery(
  row: { webhook_id: string; queued_at: number; state: WebhookState },
  id: string,
  submissionId: string,
): Delivery {
  const isPending = row.state === "enabled";
  return {
    id,
    webhookId: row.webhook_id,
    submissionId,
    state: isPending ? "pending" : "held",
    attempts: 0,
    spent: 0,
    dueAt: isPending ? row.queued_at : null,
    lastStatus: null,
  };
}

function selectRows(webhookId: string | null, after: number) {
  const rows = query
    .selectFrom("outbox")
    .innerJoin("webhook", "webhook.id", "outbox.webhook_id")
    .select(["number", "webhook_id", "queued_at", "messages", "webhook.state"])
    .where("number", ">", after)
    .orderBy("number")
    .limit(ROWS_AT_ONCE);
  return webhookId === null ? rows : rows.where("webhook_id", "=", webhookId);
}

/** How many messages wait in the outbox for webhooks that are enabled, and for others; read from an index alone. */
export function* countQueued(): Steps<{ readonly pending: number; readonly held: number }> {
  const counted = yield* all(
    query
      .selectFrom("outbox")
      .innerJoin("webhook", "webhook.id", "outbox.webhook_id")
      .select(["webhook.state", ({ fn }) => fn.sum<number>("message_count").as("messages")])
      .groupBy("webhook.state"),
  );
  const sum = (isPending: boolean): number =>
    counted
      .filter(({ state }) => (state === "enabled") === isPending)
      .reduce((total, { messages }) => total + messages, 0);
  return { pending: sum(true), held: sum(false) };
}

/** Since when the message waits that an enabled webhook waits for longest; null where none does. */
export function* oldestQueuedAt(): Steps<number | null> {
  const oldest = yield* first(
    query
      .selectFrom("outbox")
      .innerJoin("webhook", "webhook.id", "outbox.webhook_id")
      .select("queued_at")
      .where("webhook.state", "=", "enabled")
      .orderBy("number")
      .limit(1),
  );
  return oldest?.queued_at ?? null;
}
