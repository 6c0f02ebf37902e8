import type { Compilable } from "kysely";
import type { Database } from "../../database/database.ts";
import { readSlice } from "../../database/slices.ts";
import { first, text } from "../../database/steps.ts";
import { LISTED, listParameter } from "../../database/list-parameter.ts";
import { BoundedMap } from "../../foundation/bounded-map.ts";
import type { Background } from "../../foundation/background.ts";
import { FormsvcError } from "../../foundation/errors.ts";
import { firstIdAt } from "../../foundation/id.ts";
import { NOT_BINNED_SQL } from "../stored/submission-bin.ts";
import { DAY_MS, HOUR_MS } from "../../foundation/time-units.ts";

/** Accepted submissions and held posts of one UTC day. */
export interface DayCount {
  /** The first millisecond of the day, since 1970 UTC. */
  readonly day: number;
  readonly accepted: number;
  readonly held: number;
}

/**
 * Counts the posts of the last days, the oldest day first. If there are very many posts to count, returns the last finished count, up to 10
 * minutes old; null if there is none.
 *
 * @param endpointIds null means every endpoint.
 */
export type CountDays = (
  endpointIds: readonly string[] | null,
  days: number,
  now: number,
) => Promise<readonly DayCount[] | null>;

/** The largest number of rows that one statement counts, in about a millisecond; a span with more is divided. */
const MAX_COUNTED = 10_000;
/** The number of parts into which a larger span is divided. */
const PARTS = 8;
/** A span of this length or shorter is not divided. */
const SHORTEST_MS = 1000;
/** After this number of rows a page does not wait for the count any more; the count goes on in the background. */
const MAX_WAITED_FOR = 30_000;
/** After this time a span is counted again: posts may have been deleted, released or imported. */
const KEPT_MS = 600_000;
/** The largest number of spans that are counted again for one page; for other spans the old count is used. */
const MAX_RECOUNTED = 4;
/** The largest number of selections of endpoints that are remembered. */
const MAX_REMEMBERED = 100;
/** The number of spans remembered for each day that is shown. A week or more has room for the hours of today. */
const SPANS_A_DAY = 4;
/** A span is remembered only if it ended this long ago: a post may be committed some seconds after the time in its id. */
const SETTLED_MS = 60_000;

interface Counted {
  readonly accepted: number;
  readonly held: number;
  /** The time of the count, in milliseconds. */
  readonly at: number;
}

/** The counts that are known for one selection of endpoints. */
interface Memory {
  readonly spans: Map<string, Counted>;
  /** The last count that has finished. */
  last: { readonly at: number; readonly days: readonly DayCount[] } | null;
  /** The count that runs now, null if none does. */
  counting: Promise<readonly DayCount[] | null> | null;
}

/** Counts posts by day. The counts of days and hours that are over are remembered, so that only the first page waits for them. */
export function createDayCounter(db: Database, background: Background): CountDays {
  const memories = new BoundedMap<string, Memory>(MAX_REMEMBERED);
  const memoryOf = (key: string, days: number): Memory => {
    let known = memories.get(key);
    if (known === undefined) {
      const spans = new BoundedMap<string, Counted>(SPANS_A_DAY * days);
      memories.set(key, (known = { spans, last: null, counting: null }));
    }
    return known;
  };
  const begin = (memory: Memory, wanted: Wanted): Memory["counting"] => {
    const { promise: late, resolve: beLate } = Promise.withResolvers<null>();
    let rows = 0;
    const read: ReadSlice = async (slice) => {
      if (background.isClosing) throw new FormsvcError("unavailable");
      const counted = (await readSlice(db, () => first(slice)))?.count ?? 0;
      if ((rows += counted) > MAX_WAITED_FOR) beLate(null);
      return counted;
    };
    const whole = countAll(memory.spans, wanted, read).finally(() => {
      memory.counting = null;
    });
    background.add(whole.then((found) => (memory.last = { at: wanted.now, days: found })));
    return Promise.race([whole, late]);
  };
  return async (endpointIds, days, now) => {
    const listed = endpointIds === null ? null : listParameter(endpointIds);
    const memory = memoryOf(listed ?? "", days);
    memory.counting ??= begin(memory, { listed, days, now });
    const found = await memory.counting;
    if (found !== null || memory.last === null) return found;
    return Math.abs(now - memory.last.at) < KEPT_MS ? memory.last.days : null;
  };
}

/** Runs one statement of a count, between other work of the database. */
type ReadSlice = (slice: Compilable<{ count: number }>) => Promise<number>;

interface Wanted {
  /** A list parameter of endpoints' ids; null means every endpoint. */
  readonly listed: string | null;
  readonly days: number;
  readonly now: number;
}

async function countAll(
  spans: Memory["spans"],
  { listed, days, now }: Wanted,
  read: ReadSlice,
): Promise<readonly DayCount[]> {
  let recounts = MAX_RECOUNTED;
  const count = async (from: number, until: number): Promise<Counted> => {
    const key = `${from} ${until}`;
    const known = spans.get(key);
    if (known !== undefined && (now - known.at < KEPT_MS || (recounts -= 1) < 0)) return known;
    const accepted = await countBetween(read, "submission", listed, [from, until]);
    const held = await countBetween(read, "held", listed, [from, until]);
    const counted = { accepted, held, at: now };
    if (until + SETTLED_MS <= now) spans.set(key, counted);
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
  return found;
}

function sum(counts: readonly Counted[], which: "accepted" | "held"): number {
  return counts.reduce((total, each) => total + each[which], 0);
}

const COUNTED_SQL = {
  submission: {
    all: `SELECT 1 FROM submission WHERE id >= ? AND id < ? ${NOT_BINNED_SQL}`,
    listed: `SELECT 1 FROM endpoint_number AS own CROSS JOIN submission
      WHERE submission.endpoint_number = own.number AND submission.id >= ? AND submission.id < ?
        AND own.endpoint_id IN ${LISTED} ${NOT_BINNED_SQL}`,
  },
  held: {
    all: "SELECT 1 FROM held WHERE id >= ? AND id < ?",
    listed: `SELECT 1 FROM held WHERE id >= ? AND id < ? AND endpoint_id IN ${LISTED}`,
  },
} as const;

const PREFIXES = { submission: "sub", held: "held" } as const;

/** @param listed a list parameter of endpoints' ids; null means every endpoint. */
async function countBetween(
  read: ReadSlice,
  table: keyof typeof COUNTED_SQL,
  listed: string | null,
  [from, until]: readonly [number, number],
): Promise<number> {
  const isShort = until - from <= SHORTEST_MS;
  const sql = COUNTED_SQL[table][listed === null ? "all" : "listed"];
  const bounds = [firstIdAt(PREFIXES[table], from), firstIdAt(PREFIXES[table], until)];
  const count = await read(
    text<{ count: number }>(
      `SELECT count(*) AS count FROM (${sql} LIMIT ?) AS counted`,
      ...bounds,
      ...(listed === null ? [] : [listed]),
      isShort ? Number.MAX_SAFE_INTEGER : MAX_COUNTED,
    ),
  );
  if (isShort || count < MAX_COUNTED) return count;
  let total = 0;
  for (let part = 0; part < PARTS; part += 1) {
    const [begin, end] = [part, part + 1].map((at) => from + Math.floor((at * (until - from)) / PARTS));
    total += await countBetween(read, table, listed, [begin ?? from, end ?? until]);
  }
  return total;
}
