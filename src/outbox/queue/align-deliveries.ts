import { sql } from "kysely";
import { query } from "../../database/database.ts";
import { all, run, type Steps } from "../../database/steps.ts";
import { BULK_BATCH } from "./delivery.ts";

/** Recipients that are enabled, or all others. */
type Which = "enabled" | "other";

/** The state of deliveries that such recipients should not have. */
const MISPLACED = { enabled: "held", other: "pending" } as const;

/**
 * Keeps deliveries in step with their recipients: those of a disabled or stopped recipient become held, and held ones of an enabled
 * recipient go back into the queue. A process that changed a recipient may have ended before it did this, so a server does it at its start
 * and after every change. Changes at most one batch of each recipient.
 *
 * @returns true if there may be more to change.
 */
export function* alignDeliveries(now: number): Steps<boolean> {
  const toRelease = yield* all(selectMisplaced("enabled"));
  const toHold = yield* all(selectMisplaced("other"));
  if (toRelease.length + toHold.length === 0) return false;
  const changed: number[] = [];
  for (const { id } of toRelease) changed.push(yield* align(id, "enabled", now));
  for (const { id } of toHold) changed.push(yield* align(id, "other", now));
  return changed.includes(BULK_BATCH);
}

/**
 * Selects enabled recipients with held deliveries (`enabled`), or the other recipients with pending deliveries (`other`). Both read small
 * indices only.
 */
export function selectMisplaced(which: Which) {
  return query
    .selectFrom("recipient")
    .select("id")
    .where("state", which === "enabled" ? "=" : "!=", "enabled")
    .where((eb) =>
      eb.exists(
        eb
          .selectFrom("delivery")
          .select("delivery.id")
          .whereRef("delivery.recipient_id", "=", "recipient.id")
          .where("delivery.state", "=", sql.lit(MISPLACED[which])),
      ),
    );
}

function* align(recipientId: string, which: Which, now: number): Steps<number> {
  const misplaced = sql.lit<"held" | "pending">(MISPLACED[which]);
  const some = query
    .selectFrom("delivery")
    .select("id")
    .where("recipient_id", "=", recipientId)
    .where("state", "=", misplaced)
    .limit(BULK_BATCH);
  const change =
    which === "enabled" ? ({ state: "pending", due_at: now } as const) : ({ state: "held" } as const);
  // The state is checked again for each row: another server may have moved and claimed it since it was read.
  return yield* run(
    query.updateTable("delivery").set(change).where("id", "in", some).where("state", "=", misplaced),
  );
}
