import type { SqliteDatabase } from "../../src/database/sqlite/sqlite-database.ts";
import type { ClaimedDelivery } from "../../src/outbox/sending/claimed-delivery.ts";
import { createClaims } from "../../src/outbox/engines/sqlite-claims.ts";
import type { EndedAttempt, RecordedAttempt } from "../../src/outbox/sending/transport.ts";

/** Claims up to `limit` due deliveries of one recipient, as a deliverer claims them. */
export function claimDue(
  db: SqliteDatabase,
  recipientId: string,
  limit: number,
  now: number,
): readonly ClaimedDelivery[] {
  const wants = [{ recipientId, limit }];
  const claimed = db.transactionNow(() => db.now(() => createClaims(db).claimDue(wants, now)));
  return claimed.get(recipientId) ?? [];
}

export function finish(
  db: SqliteDatabase,
  ended: readonly EndedAttempt[],
  now: number,
): (RecordedAttempt | null)[] {
  return db.transactionNow(() => db.now(() => createClaims(db).finish(ended, now)));
}

export function earliestDue(db: SqliteDatabase, recipientId: string): number | null {
  return db.now(() => createClaims(db).earliestDue([recipientId])).get(recipientId) ?? null;
}
