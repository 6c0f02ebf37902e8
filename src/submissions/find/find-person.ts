import { type Database, query } from "../../database/database.ts";
import { readSlice } from "../../database/slices.ts";
import { all, run, type Steps, text } from "../../database/steps.ts";
import { forgetUse } from "../../outbox/queue/quotas.ts";
import { NUMBER_OF_ENDPOINT } from "../stored/endpoint-number.ts";
import { comparable } from "./comparable-text.ts";
import { findHeldPost, type HeldPost } from "../held/held-post.ts";
import type { StoredSubmission } from "../stored/submission-work.ts";
import { findSubmission } from "../stored/submission-store.ts";

/** The records of one person, to be shown or erased when the person asks for it. */
export interface PersonRecords {
  readonly submissions: readonly StoredSubmission[];
  /** Refused posts that are held. */
  readonly held: readonly HeldPostRecord[];
  /** Whether there are more submissions or held posts than {@link MAX_PERSON_RECORDS} and {@link MAX_PERSON_BYTES} allow. */
  readonly hasMore: boolean;
}

type HeldPostRecord = Pick<HeldPost, "id" | "data" | "setAside" | "createdAt">;

/**
 * The largest number of rows that one slice reads, and the largest number of bytes of several rows, so that a search delays no post of a
 * server.
 */
const SLICE_ROWS = 250;
const SLICE_BYTES = 131_072;
/** The number of found records that are read at once: some milliseconds of work if each is as long as a post may be. */
const READ_AT_ONCE = 10;

/** The largest number of records of each kind that are shown or erased at once; a robot may have posted far more with one address. */
const MAX_PERSON_RECORDS = 10_000;

/**
 * The number of bytes of records of each kind after which no further ones are given: all of them are in memory at once. The first record is
 * given whatever its size is.
 */
const MAX_PERSON_BYTES = 16_777_216;

/** The person to look for, by the value of a field, and the endpoints to search. */
export interface PersonSought {
  readonly field: string;
  readonly value: string;
  /** Null means every endpoint. */
  readonly endpointIds: readonly string[] | null;
  /** Ends the search, with its reason, when nobody waits for it any more. */
  readonly gone?: AbortSignal | undefined;
}

/**
 * Finds the submissions and held posts in which a field of this name has this value, or is a list that contains it. The field may be at any
 * depth, in the data or among the unknown fields that were set aside. Values are compared as {@link comparable} says. Reads every submission of the endpoints.
 *
 * @throws the reason of `gone`
 */
export async function findPerson(db: Database, sought: PersonSought): Promise<PersonRecords> {
  const { gone } = sought;
  const matching = await findMatching(db, "submission", sought);
  const matchingHeld = await findMatching(db, "held", sought);
  const submissions = await readEach(db, matching.ids, findSubmission, gone);
  const held = await readEach(db, matchingHeld.ids, findHeldPost, gone);
  return { submissions, held, hasMore: matching.hasMore || matchingHeld.hasMore };
}

/** Erases submissions together with the deliveries that carry their data, and with the counts of the quotas that they used. */
export function* eraseSubmissionRows(ids: readonly string[]): Steps<void> {
  for (const id of ids) {
    yield* run(query.deleteFrom("submission").where("id", "=", id));
    yield* forgetUse(id);
  }
}

export function* eraseHeldRows(ids: readonly string[]): Steps<void> {
  for (const id of ids) yield* run(query.deleteFrom("held").where("id", "=", id));
}

const SLICE_SQL = {
  submission: {
    every: sliceSql("FROM submission WHERE", "JOIN submission AS record"),
    ofOne: sliceSql(
      `FROM submission WHERE endpoint_number = ${NUMBER_OF_ENDPOINT} AND`,
      "JOIN submission AS record",
    ),
  },
  held: {
    every: sliceSql("FROM held WHERE", "JOIN held AS record"),
    ofOne: sliceSql("FROM held WHERE endpoint_id = ? AND", "JOIN held AS record"),
  },
} as const;

/** Builds a statement that chooses rows by their sizes, which is cheap, before it reads their contents. */
function sliceSql(fromTable: string, joinTable: string): string {
  const sized = `SELECT id, octet_length(data) + coalesce(octet_length(unknown_fields), 0) AS size
    ${fromTable} id > ? ORDER BY id LIMIT ?`;
  const summed = `SELECT id, sum(size) OVER (ORDER BY id) AS bytes, row_number() OVER (ORDER BY id) AS place
    FROM (${sized}) AS sized`;
  return `SELECT record.id, data, unknown_fields AS beside FROM (${summed}) AS summed
    ${joinTable} ON record.id = summed.id WHERE summed.place = 1 OR summed.bytes <= ? ORDER BY record.id`;
}

interface DataRow {
  readonly id: string;
  readonly data: string;
  /** The unknown fields that were set aside, as JSON. */
  readonly beside: string | null;
}

/** Reads records by their ids; those that were deleted meanwhile are left out. */
async function readEach<Record>(
  db: Database,
  ids: readonly string[],
  find: (id: string) => Steps<Record | undefined>,
  gone: AbortSignal | undefined,
): Promise<Record[]> {
  const records: Record[] = [];
  for (let from = 0; from < ids.length; from += READ_AT_ONCE) {
    const some = ids.slice(from, from + READ_AT_ONCE);
    const slice = function* (): Steps<{ readonly found: readonly Record[] }> {
      const found: Record[] = [];
      for (const id of some) {
        const record = yield* find(id);
        if (record !== undefined) found.push(record);
      }
      return { found };
    };
    records.push(...(await readSlice(db, slice, gone)).found);
  }
  return records;
}

interface Matching {
  readonly ids: readonly string[];
  /** Whether there are further ones, beyond the bounds. */
  readonly hasMore: boolean;
}

async function findMatching(
  db: Database,
  table: keyof typeof SLICE_SQL,
  { field, value, endpointIds, gone }: PersonSought,
): Promise<Matching> {
  const wanted = comparable(value);
  const ids: string[] = [];
  let bytes = 0;
  for (const endpointId of endpointIds ?? [null]) {
    for await (const { id, data, beside } of readAll(db, table, endpointId, gone)) {
      const isFound =
        hasMember(JSON.parse(data), null, field, wanted) ||
        (beside !== null && hasPath(JSON.parse(beside) as Record<string, unknown>, field, wanted));
      if (!isFound) continue;
      if (ids.length >= MAX_PERSON_RECORDS || bytes >= MAX_PERSON_BYTES) return { ids, hasMore: true };
      ids.push(id);
      bytes += Buffer.byteLength(data) + Buffer.byteLength(beside ?? "");
    }
  }
  return { ids, hasMore: false };
}

/** Reads the rows of one endpoint, or of all if it is null, in slices. */
async function* readAll(
  db: Database,
  table: keyof typeof SLICE_SQL,
  endpointId: string | null,
  gone: AbortSignal | undefined,
): AsyncGenerator<DataRow> {
  const sql = SLICE_SQL[table][endpointId === null ? "every" : "ofOne"];
  const scope = endpointId === null ? [] : [endpointId];
  let after = "";
  for (;;) {
    const begin = after;
    const slice = (): Steps<DataRow[]> => all(text<DataRow>(sql, ...scope, begin, SLICE_ROWS, SLICE_BYTES));
    const rows = await readSlice(db, slice, gone);
    yield* rows;
    const last = rows.at(-1);
    if (last === undefined) return;
    after = last.id;
  }
}

/** @param key the name of the value; an item of an array has the array's name. */
function hasMember(value: unknown, key: string | null, field: string, wanted: string): boolean {
  if (Array.isArray(value)) return value.some((member) => hasMember(member, key, field, wanted));
  if (typeof value === "object" && value !== null) {
    return Object.entries(value).some(([name, member]) => hasMember(member, name, field, wanted));
  }
  return key === field && comparable(String(value)) === wanted;
}

/** @param fields values by their paths. The name of a value is the last part of its path; an item of a list has the list's name. */
function hasPath(fields: Readonly<Record<string, unknown>>, field: string, wanted: string): boolean {
  return Object.entries(fields).some(([path, value]) => {
    const name = path.replace(/(?:\.\d+)+$/, "");
    return (
      (path === field || name === field || name.endsWith(`.${field}`)) && comparable(String(value)) === wanted
    );
  });
}
