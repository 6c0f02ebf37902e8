import { createHash } from "node:crypto";
import { deleteSome } from "../../database/some-rows.ts";
import { all, run, type Steps, text, textByEngine } from "../../database/steps.ts";
import { LIST, LISTED_IDS, listParameter } from "../../database/list-parameter.ts";
import type { TableFormat } from "./import-formats.ts";
import type { RowCounts } from "./row-counts.ts";

/*
 * Remembers which rows of exports were imported, whether of another service or in our own format. A row stays remembered when its
 * submission is deleted, so that the next import does not bring it back. Only a hash is stored, which reveals nothing about the row.
 */

interface NamedRow {
  readonly format: TableFormat;
  /** The id that the service gave the row; empty if there is none. */
  readonly serviceId: string;
  /** Null if the row has no time of its own. */
  readonly createdAt: number | null;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Bytes of a hash: enough that no two of a million rows have the same. */
const HASH_BYTES = 18;

/** The hash of a row: of the service's id, or, without an id, of its time and values and its count among equal rows of the file. */
export function rowHash({ format, serviceId, createdAt, data }: NamedRow, counts: RowCounts): string {
  if (serviceId !== "") return idHash(format, serviceId);
  const members = Object.entries(data).toSorted(([one], [other]) => (one < other ? -1 : 1));
  const content = hashOf(["row", createdAt, members]);
  return hashOf([content.toString("hex"), counts.add(content)]).toString("base64url");
}

/** The hash of a row or a submission with an id: of the format and the id alone. */
export function idHash(format: TableFormat | "ndjson", id: string): string {
  return hashOf(["id", format, id]).toString("base64url");
}

function hashOf(value: unknown): Buffer {
  return createHash("sha256").update(JSON.stringify(value)).digest().subarray(0, HASH_BYTES);
}

const CLAIM_SQL = `INSERT INTO imported_row (endpoint_id, row_hash)
  SELECT ?, key FROM ${LIST} WHERE true ON CONFLICT DO NOTHING RETURNING row_hash`;

/** Records these rows, in the transaction that stores them. Returns the hashes that were not known before. */
export function* claimRows(endpointId: string, hashes: readonly string[]): Steps<ReadonlySet<string>> {
  const rows = yield* all(text<{ row_hash: string }>(CLAIM_SQL, endpointId, listParameter(hashes)));
  return new Set(rows.map(({ row_hash: hash }) => hash));
}

const KNOWN_SQL = `SELECT row_hash FROM imported_row
  WHERE endpoint_id = ? AND row_hash IN ${LISTED_IDS}`;

/** Returns those of the hashes that are recorded. */
export function* knownRows(endpointId: string, hashes: readonly string[]): Steps<ReadonlySet<string>> {
  const rows = yield* all(text<{ row_hash: string }>(KNOWN_SQL, endpointId, listParameter(hashes)));
  return new Set(rows.map(({ row_hash: hash }) => hash));
}

/** Forgets at most `limit` rows of an endpoint that is deleted. Returns the number forgotten. */
export function forgetImportedOf(endpointId: string, limit: number): Steps<number> {
  return run(textByEngine(FORGET_SQL, endpointId, limit));
}

const FORGET_SQL = deleteSome(
  "imported_row",
  ["endpoint_id", "row_hash"],
  (key) => `SELECT ${key} FROM imported_row WHERE endpoint_id = ? LIMIT ?`,
);
