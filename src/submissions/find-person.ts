import { type Database, query } from "../database/database.ts";
import type { Submission } from "./submission.ts";
import { findSubmission } from "./submission-store.ts";

/** What is kept of one person, for a request to see or erase it. */
export interface PersonRecords {
  readonly submissions: readonly Submission[];
  /** Posts that were answered 429 and are kept for a while. */
  readonly held: readonly HeldRecord[];
  /** Whether there is more of either than {@link MAX_PERSON_RECORDS}. */
  readonly hasMore: boolean;
}

export interface HeldRecord {
  readonly id: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly createdAt: number;
}

/** Most records of each kind that are shown or erased at once; a robot may have posted far more with one address. */
export const MAX_PERSON_RECORDS = 10_000;

/**
 * Everything in which a field of this name, at whatever depth, has this value or is a list with it; the case of letters
 * and outer white space make no difference. Reads every submission.
 */
export function findPerson(db: Database, field: string, value: string): PersonRecords {
  const ids = matchingIds(db, "submission", field, value);
  const held = matchingIds(db, "held", field, value);
  return {
    submissions: ids.slice(0, MAX_PERSON_RECORDS).map((id) => findSubmission(db, id)),
    held: held.slice(0, MAX_PERSON_RECORDS).map((id) => readHeld(db, id)),
    hasMore: ids.length > MAX_PERSON_RECORDS || held.length > MAX_PERSON_RECORDS,
  };
}

/** Erases the records for good, with the deliveries that carry their data. All or nothing. */
export function erasePerson(db: Database, records: PersonRecords): void {
  db.transaction(() => {
    for (const { id } of records.submissions) db.run(query.deleteFrom("submission").where("id", "=", id));
    for (const { id } of records.held) {
      db.run(query.deleteFrom("held").where("id", "=", id));
    }
  });
}

function matchingIds(db: Database, table: "submission" | "held", field: string, value: string): string[] {
  const records = db.prepare(`SELECT id, data FROM ${table} ORDER BY id`);
  const wanted = comparable(value);
  const ids: string[] = [];
  db.read(() => {
    for (const { id, data } of records.iterate() as Iterable<{ id: string; data: string }>) {
      if (hasMember(JSON.parse(data), null, field, wanted)) ids.push(id);
      if (ids.length > MAX_PERSON_RECORDS) break;
    }
  });
  return ids;
}

/** @param key the name under which the value stands; the members of an array stand under the array's. */
function hasMember(value: unknown, key: string | null, field: string, wanted: string): boolean {
  if (Array.isArray(value)) return value.some((member) => hasMember(member, key, field, wanted));
  if (typeof value === "object" && value !== null) {
    return Object.entries(value).some(([name, member]) => hasMember(member, name, field, wanted));
  }
  return key === field && comparable(String(value)) === wanted;
}

function comparable(text: string): string {
  return text.trim().toLowerCase();
}

function readHeld(db: Database, id: string): HeldRecord {
  const row = db.first(query.selectFrom("held").select(["data", "created_at"]).where("id", "=", id));
  return {
    id,
    data: JSON.parse(row?.data ?? "{}") as Record<string, unknown>,
    createdAt: row?.created_at ?? 0,
  };
}
