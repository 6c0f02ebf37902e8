import type { Database } from "../../database/database.ts";
import { readSlice } from "../../database/slices.ts";
import { all, byEngine, first, type Steps, text, textByEngine } from "../../database/steps.ts";
import { LIST, listParameter } from "../../database/list-parameter.ts";
import { firstIdAt } from "../../foundation/id.ts";
import { numbersOfEndpoints } from "../stored/endpoint-number.ts";
import { type SqlCondition, conditionsOf, inWordsOf } from "./filter-conditions.ts";
import { createTextMatcher, SEARCHED_COLUMNS, type TextMatcher } from "./match-text.ts";
import type { SubmissionFilter } from "../stored/submission-store.ts";

/** `older` begins at the newest submission, `newer` at the oldest. */
export type Direction = "older" | "newer";

export interface WalkRequest {
  readonly filter: SubmissionFilter;
  readonly direction: Direction;
  /** The id after which the walk begins, in its direction; null begins with the first submission in that direction. */
  readonly cursor: string | null;
  /** The number of submissions that the caller wants first, so that the walk reads no more than a page needs. */
  readonly wanted: number;
  /** Ends the walk, with its reason, when nobody waits for it any more. */
  readonly gone?: AbortSignal;
}

export interface WalkSlice {
  /** The submissions that match the filter, in the order of the walk. */
  readonly ids: readonly string[];
  /** The number of submissions that the walk has looked at so far. */
  readonly looked: number;
  /** The cursor up to which the walk has looked at all submissions; null at the end. */
  readonly position: string | null;
}

/** A slice reads no further chunk after this time, because a post waits until the slice ends (`readSlice`). */
const SLICE_MS = 3;
/** The largest number of submissions that one slice looks at. */
const SLICE_ROWS = 250;
/** The largest number of bytes that one chunk searches for a text, in two milliseconds in the worst case. */
const MAX_CHUNK_BYTES = 131_072;
/** The largest number of endpoints that one slice looks at. */
const SLICE_ENDPOINTS = 16;
/** The number of submissions of an endpoint in its first chunk, if there are several endpoints. Each further chunk has twice as many. */
const FIRST_ROWS = 32;
/** The largest number of endpoints whose first or last submission one slice looks up. */
const ENDS_AT_ONCE = 500;

/** An id with this appended is greater than that id, and not greater than the next one, because ids have one length. */
const AFTER = "~";

/** A table with the ids of submissions and the numbers of their endpoints. */
type Walked = "submission" | "submission_work" | "submission_bin";

const WALKED_SQL: Readonly<Record<Walked, string>> = {
  submission: "FROM submission",
  submission_work: "FROM submission_work",
  submission_bin: "FROM submission_bin",
};

/** The same tables, joined with the submissions themselves. */
const SUBMISSIONS_SQL: Readonly<Record<Walked, string>> = {
  submission: "FROM submission",
  submission_work: "FROM submission_work JOIN submission ON submission.id = submission_work.id",
  submission_bin: "FROM submission_bin JOIN submission ON submission.id = submission_bin.id",
};

/** The smallest table that has every submission of the filter. */
function walkedOf({ isDeleted, state, assignee }: SubmissionFilter): Walked {
  if (isDeleted) return "submission_bin";
  return state === "done" || (assignee !== null && assignee !== "nobody") ? "submission_work" : "submission";
}

/** What a walk looks for. */
interface Sought {
  readonly filter: SubmissionFilter;
  readonly direction: Direction;
  /** Null if the filter names no text. */
  readonly matcher: TextMatcher | null;
}

/** The submissions of one endpoint, or of all, that the walk has not looked at yet: ids from `low` on and before `high`. */
interface Source {
  readonly walked: Walked;
  /** The number of the endpoint; null means every endpoint. */
  readonly number: number | null;
  readonly low: string;
  readonly high: string;
  /** The number of submissions in the next chunk. */
  readonly rows: number;
}

/**
 * Walks through the submissions of a filter in the order of their ids. There is no index for the score, the text or what was read. So the
 * walk looks at every submission of the filter's endpoints and period, in slices, between which other work goes on. Several endpoints are
 * merged, so that a small workspace beside large ones costs only its own rows.
 *
 * @throws invalid_request on a malformed cursor.
 */
export async function* walkSubmissions(db: Database, request: WalkRequest): AsyncGenerator<WalkSlice> {
  const { filter, direction } = request;
  const matcher = filter.text === null ? null : createTextMatcher(filter.text);
  const { isAhead, shrink, compare } = WAYS[direction];
  let open = await openSources(db, request);
  /** What was found behind the edge: a source that is not as far yet may have submissions that come before. */
  let pool: string[] = [];
  let looked = 0;
  while (open.length > 0) {
    const leaders = leadersOf(open, direction);
    const chunks = await readSlice(
      db,
      function* () {
        const endsAt = performance.now() + SLICE_MS;
        const read: Chunk[] = [];
        for (const source of leaders) {
          if (read.length > 0 && performance.now() >= endsAt) break;
          read.push(yield* readChunk(source, { filter, direction, matcher }));
        }
        return read;
      },
      request.gone,
    );
    const due = leaders.slice(0, chunks.length);
    looked += chunks.reduce((sum, { rows }) => sum + rows, 0);
    pool.push(...chunks.flatMap(({ ids }) => ids));
    const rest = due.flatMap((source, index) => {
      const end = chunks[index]?.end ?? null;
      return end === null ? [] : [{ ...shrink(source, end), rows: Math.min(SLICE_ROWS, 2 * source.rows) }];
    });
    open = [...open.filter((source) => !due.includes(source)), ...rest];
    const edge = edgeOf(open, direction);
    const ids = pool.filter((id) => edge === null || isAhead(id, edge)).toSorted(compare);
    pool = pool.filter((id) => edge !== null && !isAhead(id, edge));
    yield { ids, looked, position: edge && edge.replace(AFTER, "") };
  }
}

/** The differences between the two directions. */
const WAYS = {
  older: {
    order: "DESC",
    /** The bound of a source that the walk reaches first. */
    front: ({ high }: Source) => high,
    compare: (one: string, other: string) => (one > other ? -1 : 1),
    /** Whether the walk has passed this id in all sources. */
    isAhead: (id: string, edge: string) => id >= edge,
    /** The source without the chunk that was read; `end` is the last id of that chunk. */
    shrink: (source: Source, end: string): Source => ({ ...source, high: end }),
    /** The part of a source that a chunk reads; `end` is the last id of that chunk. */
    chunk: (source: Source, end: string): Source => ({ ...source, low: end }),
  },
  newer: {
    order: "ASC",
    front: ({ low }: Source) => low,
    compare: (one: string, other: string) => (one < other ? -1 : 1),
    isAhead: (id: string, edge: string) => id < edge,
    shrink: (source: Source, end: string): Source => ({ ...source, low: end + AFTER }),
    chunk: (source: Source, end: string): Source => ({ ...source, high: end + AFTER }),
  },
} as const;

/** The sources that the walk must read next, few enough for one slice. */
function leadersOf(open: readonly Source[], direction: Direction): readonly Source[] {
  const { front, compare } = WAYS[direction];
  const sorted = open.toSorted((one, other) => compare(front(one), front(other)));
  let rows = 0;
  return sorted.slice(0, SLICE_ENDPOINTS).filter((source, index) => {
    rows += source.rows;
    return index === 0 || rows <= SLICE_ROWS;
  });
}

/** The id up to which the walk has looked at all sources; null when it has looked at everything. */
function edgeOf(open: readonly Source[], direction: Direction): string | null {
  const { front, compare } = WAYS[direction];
  return open
    .map(front)
    .reduce<string | null>((edge, each) => (edge === null || compare(each, edge) < 0 ? each : edge), null);
}

async function openSources(
  db: Database,
  { filter, direction, cursor, wanted, gone }: WalkRequest,
): Promise<Source[]> {
  const low = filter.since === null ? "sub_" : firstIdAt("sub", filter.since);
  const high = filter.until === null ? `sub_${AFTER}` : firstIdAt("sub", filter.until);
  const walked = walkedOf(filter);
  const bounds =
    direction === "older"
      ? { low, high: cursor !== null && cursor < high ? cursor : high, walked }
      : { low: cursor !== null && cursor >= low ? cursor + AFTER : low, high, walked };
  const { endpointIds } = filter;
  if (endpointIds === null) return [{ number: null, ...bounds, rows: Math.min(SLICE_ROWS, wanted) }];
  const numbers = await db.read(() => numbersOfEndpoints(endpointIds), gone);
  if (numbers.length === 1) {
    return numbers.map((number) => ({ number, ...bounds, rows: Math.min(SLICE_ROWS, wanted) }));
  }
  const sources: Source[] = [];
  for (let from = 0; from < numbers.length; from += ENDS_AT_ONCE) {
    const some = numbers.slice(from, from + ENDS_AT_ONCE);
    sources.push(...(await readSlice(db, () => startAtEnds(some, bounds, direction), gone)));
  }
  return sources;
}

const ENDS = { older: "max", newer: "min" } as const;

function endsSql(walked: Walked, direction: Direction): string {
  return `SELECT CAST(key AS integer) AS number,
      (SELECT ${ENDS[direction]}(id) ${WALKED_SQL[walked]} WHERE endpoint_number = CAST(key AS integer) AND id >= ? AND id < ?) AS id
    FROM ${LIST} AS listed`;
}

/** Returns a source for each endpoint that has a submission within the bounds. The source begins with the first such submission. */
function* startAtEnds(
  numbers: readonly number[],
  { low, high, walked }: Pick<Source, "low" | "high" | "walked">,
  direction: Direction,
): Steps<Source[]> {
  const ends = yield* all(
    text<{ number: number; id: string | null }>(
      endsSql(walked, direction),
      low,
      high,
      listParameter(numbers),
    ),
  );
  return ends.flatMap(({ number, id }) => {
    if (id === null) return [];
    const source = { number, low, high, rows: FIRST_ROWS, walked };
    return [direction === "older" ? { ...source, high: id + AFTER } : { ...source, low: id }];
  });
}

interface Chunk {
  readonly ids: readonly string[];
  /** The number of submissions that the chunk looked at. */
  readonly rows: number;
  /** The id of the last submission of the chunk; null if the source has no more. */
  readonly end: string | null;
}

/** Reads the next submissions of one source. The first statement finds where the second one stops. */
function* readChunk(source: Source, { filter, direction, matcher }: Sought): Steps<Chunk> {
  const { order, chunk } = WAYS[direction];
  let { rows: count } = source;
  let end = yield* lastOf(source, count, order);
  if (matcher !== null && count > 1) {
    // A submission may have 64 KiB. If the chunk is too large, it reads fewer submissions: the number that fits at their mean size.
    const size = yield* sizeOf(end === null ? source : chunk(source, end));
    if (size.bytes > MAX_CHUNK_BYTES) {
      count = Math.max(1, Math.floor((size.rows * MAX_CHUNK_BYTES) / size.bytes));
      end = yield* lastOf(source, count, order);
    }
  }
  const looked = inRange(end === null ? source : chunk(source, end));
  const wanted = conditionsOf(filter, matcher);
  const rows = yield* all(
    textByEngine<SearchedRow>(
      byEngine(
        (engine) =>
          `SELECT submission.id${matcher === null ? "" : `, ${SEARCHED_COLUMNS.join(", ")}`} ${SUBMISSIONS_SQL[source.walked]}
            WHERE ${looked.sql} ${wanted.map((each) => inWordsOf(engine, each)).join(" ")} ORDER BY ${source.walked}.id ${order}`,
      ),
      ...looked.parameters,
      ...wanted.flatMap(({ parameters }) => parameters),
    ),
  );
  const meant =
    matcher === null
      ? rows
      : rows.filter((row) => matcher.matches(SEARCHED_COLUMNS.map((column) => row[column])));
  return { ids: meant.map(({ id }) => id), rows: count, end };
}

type SearchedRow = { readonly id: string } & Record<(typeof SEARCHED_COLUMNS)[number], string | null>;

/** The id of the last of the first `count` submissions; null if there are fewer. */
function* lastOf(source: Source, count: number, order: string): Steps<string | null> {
  const { sql, parameters } = inRange(source);
  const last = yield* first(
    text<{ id: string }>(
      `SELECT id ${WALKED_SQL[source.walked]} WHERE ${sql} ORDER BY id ${order} LIMIT 1 OFFSET ?`,
      ...parameters,
      count - 1,
    ),
  );
  return last?.id ?? null;
}

const SEARCHED_BYTES_SQL = SEARCHED_COLUMNS.map((column) => `coalesce(octet_length(${column}), 0)`).join(
  " + ",
);

/** The number of submissions of a source, and the total bytes of their searched columns. */
function* sizeOf(source: Source): Steps<{ readonly rows: number; readonly bytes: number }> {
  const { sql, parameters } = inRange(source);
  const summed = text<{ rows: number; bytes: number | null }>(
    `SELECT count(*) AS rows, sum(${SEARCHED_BYTES_SQL}) AS bytes ${SUBMISSIONS_SQL[source.walked]} WHERE ${sql}`,
    ...parameters,
  );
  const size = yield* first(summed);
  return { rows: size?.rows ?? 0, bytes: size?.bytes ?? 0 };
}

function inRange({ number, low, high, walked }: Source): SqlCondition {
  const ids = `${walked}.id >= ? AND ${walked}.id < ?`;
  if (number === null) return { sql: ids, parameters: [low, high] };
  return { sql: `${walked}.endpoint_number = ? AND ${ids}`, parameters: [number, low, high] };
}
