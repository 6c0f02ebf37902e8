import type { JointRateLimiter, ReportedSum, UnreportedCount } from "../../foundation/joint-rate-limit.ts";
import type { LiveServers } from "../live-servers.ts";
import { WITH_LOCAL_COMMIT } from "./local-commit.ts";
import type { PostgresqlDatabase } from "./open-postgresql.ts";

/** Adds up in `rate_window` what several servers counted in the windows of one rate limiter. */
export interface RateExchange {
  /** Sends the counts of this server and reads those of the others, in one statement or two; in none while this server is alone. */
  exchange(): Promise<void>;
  /** Deletes windows that have ended. Returns the number deleted. */
  dropEnded(): Promise<number>;
}

/** A server reads again what changed up to this time before its last read, because a statement that began earlier may end later. */
const OVERLAP_MS = 1000;
/** Longer than any window, so that the first read gets all. */
const EVER_MS = Number.MAX_SAFE_INTEGER;
/** The largest number of windows that one statement deletes. */
const MAX_DROPPED = 10_000;

const NOW = "(extract(epoch FROM statement_timestamp()) * 1000)::bigint";

/** Rows are written in the order of units, so that two servers never deadlock. */
const EXCHANGE_SQL = `${WITH_LOCAL_COMMIT}, sent AS (
    INSERT INTO rate_window AS known (unit, used, ends_at, changed_at)
      SELECT unit, "count", ${NOW} + "leftMs", ${NOW}
      FROM settings, json_to_recordset($1) AS counts (unit text, "count" bigint, "leftMs" bigint) ORDER BY unit
    ON CONFLICT (unit) DO UPDATE SET
      used = excluded.used + CASE WHEN known.ends_at > excluded.changed_at THEN known.used ELSE 0 END,
      ends_at = CASE WHEN known.ends_at > excluded.changed_at THEN known.ends_at ELSE excluded.ends_at END,
      changed_at = excluded.changed_at
    RETURNING unit, used, ends_at
  )
  SELECT unit, used, ends_at - ${NOW} AS "leftMs" FROM sent
  UNION ALL
  SELECT unit, used, ends_at - ${NOW} FROM rate_window
    WHERE changed_at > ${NOW} - $2::bigint AND ends_at > ${NOW} AND unit NOT IN (SELECT unit FROM sent)`;

const DROP_SQL = `${WITH_LOCAL_COMMIT} DELETE FROM rate_window USING settings
  WHERE unit = ANY (ARRAY(SELECT unit FROM rate_window WHERE ends_at <= ${NOW} LIMIT ${MAX_DROPPED}))`;

export function createRateExchange(
  db: PostgresqlDatabase,
  limiter: JointRateLimiter,
  servers: LiveServers,
  nowMs: () => number = () => performance.now(),
): RateExchange {
  let heardAt: number | null = null;
  const send = async (counts: readonly UnreportedCount[]): Promise<void> => {
    const askedAt = nowMs();
    const sinceMs = heardAt === null ? EVER_MS : Math.ceil(askedAt - heardAt) + OVERLAP_MS;
    const values = [JSON.stringify(counts), sinceMs];
    try {
      const { rows } = await db.withConnection((client) => client.query<ReportedSum>(EXCHANGE_SQL, values));
      heardAt = askedAt;
      limiter.hear(rows);
    } catch (error) {
      limiter.takeBack(counts);
      throw error;
    }
  };
  return {
    async exchange() {
      const live = servers.list().length;
      const counts = limiter.report(live);
      if (live === 1) return;
      await send(counts);
      // The others sent units that this server had not sent. Sends its counts for these now, so that the others need not wait for the next
      // exchange.
      const more = limiter.report(live);
      if (more.length > 0) await send(more);
    },
    dropEnded: () => db.withConnection(async (client) => (await client.query(DROP_SQL)).rowCount ?? 0),
  };
}
