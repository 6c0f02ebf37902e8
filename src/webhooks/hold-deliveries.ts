import { sql } from "kysely";
import { type Database, query } from "../database/database.ts";
import { BULK_BATCH } from "./delivery.ts";

/**
 * Keeps deliveries in step with their webhooks: those of a disabled or stopped webhook are held, and those held for an
 * enabled one go back into the queue. Whoever changed the webhook may have died before it came to this, so a server
 * asks at start and after every change. At most one batch each; true when there may be more to do.
 */
export function alignDeliveries(db: Database, now: number): boolean {
  const toRelease = db.all(selectMisplaced("enabled"));
  const toHold = db.all(selectMisplaced("other"));
  if (toRelease.length + toHold.length === 0) return false;
  const changed = db.transaction(() => [
    ...toRelease.map(({ id }) => align(db, id, true, now)),
    ...toHold.map(({ id }) => align(db, id, false, now)),
  ]);
  return changed.includes(BULK_BATCH);
}

/** Enabled webhooks that have held deliveries, or others that have pending ones, by their own small indices. */
export function selectMisplaced(which: "enabled" | "other") {
  return query
    .selectFrom("webhook")
    .select("id")
    .where("state", which === "enabled" ? "=" : "!=", "enabled")
    .where((eb) =>
      eb.exists(
        eb
          .selectFrom("delivery")
          .select("delivery.id")
          .whereRef("delivery.webhook_id", "=", "webhook.id")
          .where("delivery.state", "=", sql.lit(which === "enabled" ? "held" : "pending")),
      ),
    );
}

function align(db: Database, webhookId: string, isEnabled: boolean, now: number): number {
  const some = query
    .selectFrom("delivery")
    .select("id")
    .where("webhook_id", "=", webhookId)
    .where("state", "=", sql.lit(isEnabled ? "held" : "pending"))
    .limit(BULK_BATCH);
  const place = isEnabled ? ({ state: "pending", due_at: now } as const) : ({ state: "held" } as const);
  return db.run(query.updateTable("delivery").set(place).where("id", "in", some));
}
