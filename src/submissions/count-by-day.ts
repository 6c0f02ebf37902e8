import type { Database } from "../database/database.ts";
import { readInTurn } from "../database/read-in-turn.ts";
import { first, text } from "../database/steps.ts";
import { firstIdAt } from "../foundation/id.ts";

/** Accepted submissions and held posts of one UTC day. */
export interface DayCount {
  /** The day's first millisecond. */
  readonly day: number;
  readonly accepted: number;
  readonly held: number;
}

/**
 * The last days, the oldest first.
 *
 * @param endpointIds null is every endpoint.
 */
export type CountDays = (
  endpointIds: readonly string[] | null,
  days: number,
  now: number,
) => Promise<readonly DayCount[]>;

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
/** Rows that one statement counts, in about two milliseconds; a span with more is halved. */
const MAX_COUNTED = 20_000;
/** A span that is not halved any more. */
const SHORTEST_MS = 1000;
/** After this time the counts of a span are looked at again: posts may have been deleted, released or imported. */
const KEPT_MS = 600_000;
/** Spans that are counted again for one page; the others show what was counted before. */
const MAX_RECOUNTED = 4;
/** Selections of endpoints that are remembered; all are forgotten beyond. */
const MAX_REMEMBERED = 100;
/** Posts may be committed some seconds after the time in their ids. */
const SETTLED_MS = 60_000;

interface Counted {
  readonly accepted: number;
  readonly held: number;
  /** When. */
  readonly at: number;
}

/** Counts posts by day. The counts of days and hours that are over are remembered, so that only the first page waits for them. */
export function createDayCounter(db: Database): CountDays {
  const remembered = new Map<string, Map<string, Counted>>();
  const memoryOf = (key: string): Map<string, Counted> => {
    let known = remembered.get(key);
    if (known === undefined) {
      if (remembered.size >= MAX_REMEMBERED) remembered.clear();
      remembered.set(key, (known = new Map()));
    }
    return known;
  };
  return async (endpointIds, days, now) => {
    const listed = endpointIds === null ? null : JSON.stringify(endpointIds);
    const memory = memoryOf(listed ?? "");
    let recounts = MAX_RECOUNTED;
    const count = async (from: number, until: number): Promise<Counted> => {
      const key = `${from} ${until}`;
      const known = memory.get(key);
      if (known !== undefined && (now - known.at < KEPT_MS || (recounts -= 1) < 0)) return known;
      const accepted = await countBetween(db, "submission", listed, [from, until]);
      const held = await countBetween(db, "held", listed, [from, until]);
      const counted = { accepted, held, at: now };
      if (until + SETTLED_MS <= now) memory.set(key, counted);
      return counted;
    };
    const today = now - (now % DAY_MS);
    const found: DayCount[] = [];
    for (let day = today - (days - 1) * DAY_MS; day < today; day += DAY_MS) {
      const { accepted, held } = await count(day, day + DAY_MS);
      found.push({ day, accepted, held });
    }
    const hours: Counted[] = [];
    for (let hour = today; hour <= now; hour += HOUR_MS) hours.push(await count(hour, hour + HOUR_MS));
    found.push({ day: today, accepted: sum(hours, "accepted"), held: sum(hours, "held") });
    if (memory.size > 4 * days) memory.clear();
    return found;
  };
}

function sum(counts: readonly Counted[], which: "accepted" | "held"): number {
  return counts.reduce((total, each) => total + each[which], 0);
}

const COUNTED_SQL = {
  submission: {
    all: "SELECT 1 FROM submission WHERE id >= ? AND id < ?",
    listed: `SELECT 1 FROM endpoint_number AS own CROSS JOIN submission ON submission.endpoint_number = own.number
      WHERE submission.id >= ? AND submission.id < ? AND own.endpoint_id IN (SELECT value FROM json_each(?))`,
  },
  held: {
    all: "SELECT 1 FROM held WHERE id >= ? AND id < ?",
    listed: "SELECT 1 FROM held WHERE id >= ? AND id < ? AND endpoint_id IN (SELECT value FROM json_each(?))",
  },
} as const;

const PREFIXES = { submission: "sub", held: "held" } as const;

/** @param listed JSON list of endpoints' ids; null is every endpoint. */
async function countBetween(
  db: Database,
  table: keyof typeof COUNTED_SQL,
  listed: string | null,
  [from, until]: readonly [number, number],
): Promise<number> {
  const isShort = until - from <= SHORTEST_MS;
  const sql = COUNTED_SQL[table][listed === null ? "all" : "listed"];
  const bounds = [firstIdAt(PREFIXES[table], from), firstIdAt(PREFIXES[table], until)];
  const counted = await readInTurn(db, () =>
    first(
      text<{ count: number }>(
        `SELECT count(*) AS count FROM (${sql} LIMIT ?)`,
        ...bounds,
        ...(listed === null ? [] : [listed]),
        isShort ? -1 : MAX_COUNTED,
      ),
    ),
  );
  const count = counted?.count ?? 0;
  if (isShort || count < MAX_COUNTED) return count;
  const middle = Math.floor((from + until) / 2);
  return (
    (await countBetween(db, table, listed, [from, middle])) +
    (await countBetween(db, table, listed, [middle, until]))
  );
}
