import { run, all, type Steps, text } from "../database/steps.ts";
import { firstIdAt } from "../foundation/id.ts";

const DAY_MS = 86_400_000;
/** Submissions deleted in one transaction, so that posts never wait long for it. */
const BATCH_SIZE = 200;

const RETENTION_SQL = {
  endpoints: `SELECT number, keep_days FROM endpoint JOIN endpoint_number ON endpoint_id = id
    WHERE keep_days IS NOT NULL`,
  expire: `DELETE FROM submission WHERE id IN
    (SELECT id FROM submission WHERE endpoint_number = ? AND id < ? ORDER BY id LIMIT ?)`,
} as const;

/** Deletes up to 200 submissions that are older than their endpoint keeps them. Returns the number deleted. */
export function* expireSubmissions(now: number): Steps<number> {
  let left = BATCH_SIZE;
  const endpoints = yield* all(text<{ number: number; keep_days: number }>(RETENTION_SQL.endpoints));
  for (const endpoint of endpoints) {
    if (left === 0) break;
    const oldest = firstIdAt("sub", now - endpoint.keep_days * DAY_MS);
    left -= yield* run(text(RETENTION_SQL.expire, endpoint.number, oldest, left));
  }
  return BATCH_SIZE - left;
}
