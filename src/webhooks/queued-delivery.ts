import { type Database, query } from "../database/database.ts";
import type { Delivery } from "./delivery.ts";
import type { QueuedMessage } from "./enqueue-delivery.ts";

/** Rows of the outbox that are read at once. */
const ROWS_AT_ONCE = 100;

/**
 * What waits in the outbox, as the deliveries that it will be. A moment later they may be in `delivery`: who wants both
 * reads these first.
 *
 * @param webhookId null is every webhook.
 */
export function* readQueued(db: Database, webhookId: string | null): Generator<Delivery> {
  const submission = db.prepare("SELECT 1 FROM submission WHERE id = ?");
  let after = 0;
  for (;;) {
    const rows = db.all(selectRows(webhookId, after));
    for (const row of rows) {
      const isPending = row.state === "enabled";
      for (const [id, submissionId] of JSON.parse(row.messages) as QueuedMessage[]) {
        if (submission.get(submissionId) === undefined) continue;
        yield {
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
      after = row.number;
    }
    if (rows.length < ROWS_AT_ONCE) return;
  }
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
export function countQueued(db: Database): { readonly pending: number; readonly held: number } {
  const counted = db.all(
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
export function oldestQueuedAt(db: Database): number | null {
  const oldest = db.first(
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
