import { type Database, query } from "../database/database.ts";
import { readInTurn } from "../database/read-in-turn.ts";
import { all, run, type Steps, text } from "../database/steps.ts";
import { forgetUse } from "../outbox/queue/quotas.ts";
import { findHeldPost, type HeldPost } from "./held-post.ts";
import type { Submission } from "./submission.ts";
import { getSubmission } from "./submission-store.ts";

/** The records of one person, for a request to see or erase them. */
export interface PersonRecords {
  readonly submissions: readonly Submission[];
  /** Posts that were answered 429 and are held. */
  readonly held: readonly HeldPostRecord[];
  /** Whether there is more of either than {@link MAX_PERSON_RECORDS}. */
  readonly hasMore: boolean;
}

export type HeldPostRecord = Pick<HeldPost, "id" | "data" | "setAside" | "createdAt">;

/** Rows that one slice reads, and bytes of them if there are several, so that a search beside a server delays no post. */
const SLICE_ROWS = 250;
const SLICE_BYTES = 131_072;

/** The largest number of records of each kind that are shown or erased at once; a robot may have posted far more with one address. */
export const MAX_PERSON_RECORDS = 10_000;

/**
 * Everything in which a field of this name, at any depth, has this value or is a list with it, whether it is in the data or set
 * aside. The case of letters and outer white space are ignored. Reads every submission.
 */
export async function findPerson(db: Database, field: string, value: string): Promise<PersonRecords> {
  const ids = await matchingIds(db, "submission", field, value);
  const heldIds = await matchingIds(db, "held", field, value);
  const submissions: Submission[] = [];
  for (const id of ids.slice(0, MAX_PERSON_RECORDS)) submissions.push(await db.read(() => getSubmission(id)));
  const held: HeldPostRecord[] = [];
  for (const id of heldIds.slice(0, MAX_PERSON_RECORDS)) {
    const found = await db.read(() => findHeldPost(id));
    if (found !== undefined) held.push(found);
  }
  const hasMore = ids.length > MAX_PERSON_RECORDS || heldIds.length > MAX_PERSON_RECORDS;
  return { submissions, held, hasMore };
}

/** Erases the records for good, with the deliveries that carry their data and what was counted for them. All or nothing. */
export function* erasePerson(records: PersonRecords): Steps<void> {
  for (const { id } of records.submissions) {
    yield* run(query.deleteFrom("submission").where("id", "=", id));
    yield* forgetUse(id);
  }
  for (const { id } of records.held) {
    yield* run(query.deleteFrom("held").where("id", "=", id));
  }
}

const SLICE_SQL = {
  submission: sliceSql("FROM submission", "JOIN submission AS record"),
  held: sliceSql("FROM held", "JOIN held AS record"),
} as const;

/** Chooses rows by their sizes, which costs next to nothing, before it reads what is in them. */
function sliceSql(fromTable: string, joinTable: string): string {
  const sized = `SELECT id, octet_length(data) + coalesce(octet_length(unknown_fields), 0) AS size
    ${fromTable} WHERE id > ? ORDER BY id LIMIT ?`;
  const summed = `SELECT id, sum(size) OVER (ORDER BY id) AS bytes, row_number() OVER (ORDER BY id) AS place
    FROM (${sized}) AS sized`;
  return `SELECT record.id, data, unknown_fields AS beside FROM (${summed}) AS summed
    ${joinTable} ON record.id = summed.id WHERE summed.place = 1 OR summed.bytes <= ? ORDER BY record.id`;
}

interface DataRow {
  readonly id: string;
  readonly data: string;
  /** What was set aside, as JSON. */
  readonly beside: string | null;
}

/** At most one more than {@link MAX_PERSON_RECORDS}. */
async function matchingIds(
  db: Database,
  table: keyof typeof SLICE_SQL,
  field: string,
  value: string,
): Promise<string[]> {
  const wanted = comparable(value);
  const ids: string[] = [];
  let after = "";
  for (;;) {
    const begin = after;
    const rows = await readInTurn(db, () =>
      all(text<DataRow>(SLICE_SQL[table], begin, SLICE_ROWS, SLICE_BYTES)),
    );
    for (const { id, data, beside } of rows) {
      const isFound =
        hasMember(JSON.parse(data), null, field, wanted) ||
        (beside !== null && hasPath(JSON.parse(beside) as Record<string, unknown>, field, wanted));
      if (isFound) ids.push(id);
      if (ids.length > MAX_PERSON_RECORDS) return ids;
    }
    const last = rows.at(-1);
    if (last === undefined) return ids;
    after = last.id;
  }
}

/** @param key the name of the value; items of an array have the array's name. */
function hasMember(value: unknown, key: string | null, field: string, wanted: string): boolean {
  if (Array.isArray(value)) return value.some((member) => hasMember(member, key, field, wanted));
  if (typeof value === "object" && value !== null) {
    return Object.entries(value).some(([name, member]) => hasMember(member, name, field, wanted));
  }
  return key === field && comparable(String(value)) === wanted;
}

/** @param fields by path; the name of a value is the end of its path, and items of a list have the list's name. */
function hasPath(fields: Readonly<Record<string, unknown>>, field: string, wanted: string): boolean {
  return Object.entries(fields).some(([path, value]) => {
    const name = path.replace(/(?:\.\d+)+$/, "");
    return (
      (path === field || name === field || name.endsWith(`.${field}`)) && comparable(String(value)) === wanted
    );
  });
}

function comparable(text: string): string {
  return text.trim().toLowerCase();
}
