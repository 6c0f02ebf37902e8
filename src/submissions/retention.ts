import type { Database } from "../database/database.ts";
import { firstIdAt } from "../foundation/id.ts";

const DAY_MS = 86_400_000;
/** Submissions deleted in one transaction, so that posts never wait long for it. */
const BATCH_SIZE = 200;

export interface Retention {
  /** Deletes up to 200 submissions that are older than their endpoint keeps them; the number deleted. */
  expire(now: number): number;
}

export function createRetention(db: Database): Retention {
  const endpoints = db.prepare(
    "SELECT number, keep_days FROM endpoint JOIN endpoint_number ON endpoint_id = id WHERE keep_days IS NOT NULL",
  );
  const expire = db.prepare(
    "DELETE FROM submission WHERE id IN (SELECT id FROM submission WHERE endpoint_number = ? AND id < ? ORDER BY id LIMIT ?)",
  );
  return {
    expire(now) {
      let left = BATCH_SIZE;
      for (const endpoint of endpoints.all() as { number: number; keep_days: number }[]) {
        if (left === 0) break;
        const oldest = firstIdAt("sub", now - endpoint.keep_days * DAY_MS);
        left -= expire.run(endpoint.number, oldest, left).changes;
      }
      return BATCH_SIZE - left;
    },
  };
}
