import { createHash } from "node:crypto";
import { all, run, type Steps, text } from "../../database/steps.ts";
import { LIST, LISTED, listParameter } from "../../database/list-parameter.ts";
import type { TableFormat } from "./import-formats.ts";
import type { RowCounts } from "./row-counts.ts";

/*
 * Which rows of exports were imported, of other services or by the name of our own format. What was imported is remembered when it is deleted too, so that it does not come
 * back with the next import. A hash tells nothing of the row.
 */

interface NamedRow {
  readonly format: TableFormat;
  /** What the service calls it; empty if it has no name. */
  readonly serviceId: string;
  readonly createdAt: number;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Bytes of a hash; of a million rows no two have the same. */
const HASH_BYTES = 18;

/** A row by the service's id, else by its time and values, with its count among equal rows of the file. */
export function rowHash({ format, serviceId, createdAt, data }: NamedRow, counts: RowCounts): string {
  if (serviceId !== "") return idHash(format, serviceId);
  const members = Object.entries(data).toSorted(([one], [other]) => (one < other ? -1 : 1));
  const content = hashOf(["row", createdAt, members]);
  return hashOf([content.toString("hex"), counts.add(content)]).toString("base64url");
}

/** A row, or a submission of our own export, by its id alone. */
export function idHash(format: TableFormat | "ndjson", id: string): string {
  return hashOf(["id", format, id]).toString("base64url");
}

function hashOf(value: unknown): Buffer {
  return createHash("sha256").update(JSON.stringify(value)).digest().subarray(0, HASH_BYTES);
}

const CLAIM_SQL = `INSERT INTO imported_row (endpoint_id, row_hash)
  SELECT ?, key FROM ${LIST} WHERE true ON CONFLICT DO NOTHING RETURNING row_hash`;

/** Notes these rows in the transaction that stores them. Returns the hashes that were not known. */
export function* claimRows(endpointId: string, hashes: readonly string[]): Steps<ReadonlySet<string>> {
  const rows = yield* all(text<{ row_hash: string }>(CLAIM_SQL, endpointId, listParameter(hashes)));
  return new Set(rows.map(({ row_hash: hash }) => hash));
}

const KNOWN_SQL = `SELECT row_hash FROM imported_row
  WHERE endpoint_id = ? AND row_hash IN ${LISTED}`;

/** The hashes of the rows that are known. */
export function* knownRows(endpointId: string, hashes: readonly string[]): Steps<ReadonlySet<string>> {
  const rows = yield* all(text<{ row_hash: string }>(KNOWN_SQL, endpointId, listParameter(hashes)));
  return new Set(rows.map(({ row_hash: hash }) => hash));
}

/** Forgets at most `limit` rows of an endpoint that is deleted. Returns the number. */
export function forgetImportedOf(endpointId: string, limit: number): Steps<number> {
  return run(text(FORGET_SQL, endpointId, endpointId, limit));
}

const FORGET_SQL = `DELETE FROM imported_row WHERE endpoint_id = ? AND row_hash IN
  (SELECT row_hash FROM imported_row WHERE endpoint_id = ? LIMIT ?)`;
