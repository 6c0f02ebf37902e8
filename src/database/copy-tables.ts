import { hash } from "node:crypto";
import { FormsvcError } from "../foundation/errors.ts";
import type { Tables } from "./tables.generated.ts";

export type TableName = keyof Tables;
/** The values of some columns, in the order of the columns: text, whole numbers, bytes and null. */
type Values = readonly unknown[];

/** Reads the tables of one database, all as they were at one moment. */
export interface TableReader {
  columns(table: TableName): Promise<readonly string[]>;
  /** Yields all rows, some at a time. Submissions come in the order of their commits. */
  read(table: TableName, columns: readonly string[]): AsyncIterable<readonly Values[]>;
}

/** Fills the tables of an empty database, in one transaction. No trigger runs. */
export interface TableWriter extends TableReader {
  write(table: TableName, columns: readonly string[], rows: readonly Values[]): Promise<void>;
  /** Converts a value to one that this engine can store. */
  storable(value: unknown): unknown;
}

/** The number of rows that are read or written at once; it is small for chunks of files, which have 256 KiB each. */
export function rowsAtOnce(table: TableName): number {
  return table === "file_chunk" ? 8 : 500;
}

/** One table that was copied, and the number of its rows. */
export interface CopiedTable {
  readonly table: TableName;
  readonly rows: number;
}

/** All tables. Each one comes after the tables that its rows refer to. */
export const COPIED_TABLES = [
  "settings_version",
  "settings_change",
  "clock_seen",
  "untrusted_proxy",
  "told_problem",
  "account",
  "credential",
  "recovery_code",
  "passkey",
  "spent_challenge",
  "sign_in_link",
  "mailed_link",
  "session",
  "oidc_binding",
  "sign_in_key",
  "known_address",
  "workspace",
  "member",
  "invitation",
  "usage",
  "limit_notice",
  "workspace_spam",
  "remembered_text",
  "remembered_text_key",
  "lesson",
  "learned_weights",
  "endpoint",
  "endpoint_number",
  "endpoint_schema",
  "endpoint_spam",
  "page_fault",
  "refused_origin",
  "api_key",
  "api_token",
  "login_request",
  "api_answer",
  "submission",
  "submission_read",
  "submission_work",
  "submission_bin",
  "submission_note",
  "imported_row",
  "idempotency",
  "held_total",
  "held_network",
  "held",
  "file_deletion",
  "file_total",
  "file",
  "file_chunk",
  "file_scan",
  "scan_wait",
  "file_link_key",
  "upload_use",
  "spent_proof",
  "recipient",
  "webhook",
  "webhook_secret",
  "mail_recipient",
  "letter",
  "auto_reply",
  "reply_language",
  "quota_use",
  "recipient_pace",
  "place_fault",
  "outbox",
  "delivery",
  "attempt",
  "mail_frame",
  "audit_event",
] as const satisfies readonly TableName[];

/**
 * Columns that are not copied: the position of a submission or change in the order of commits, which each engine counts in its own way, and
 * the server that sends a delivery, because no server does so in the copy.
 */
const OWN_COLUMNS: ReadonlySet<string> = new Set(["seq", "stored_by", "stored_after", "claimed_by"]);

/**
 * Copies all rows, then reads the copy and compares the number of rows and a checksum of all values.
 *
 * @param onProgress called with the number of rows copied so far.
 * @throws failed, naming the table, if the copy differs.
 */
export async function copyTables(
  from: TableReader,
  to: TableWriter,
  onProgress: (rows: number) => void,
): Promise<CopiedTable[]> {
  const copied: CopiedTable[] = [];
  let total = 0;
  for (const table of COPIED_TABLES) {
    const columns = await commonColumns(from, to, table);
    const given = new Checksum();
    for await (const read of from.read(table, columns)) {
      const rows = read.map((values) => values.map((value) => to.storable(value)));
      given.add(rows);
      await to.write(table, columns, rows);
      onProgress((total += rows.length));
    }
    const stored = new Checksum();
    for await (const rows of to.read(table, columns)) stored.add(rows);
    if (!stored.equals(given))
      throw new FormsvcError("failed", `the copy of the table ${table} differs; nothing was kept of it`);
    copied.push({ table, rows: given.rows });
  }
  return copied;
}

async function commonColumns(from: TableReader, to: TableReader, table: TableName): Promise<string[]> {
  const [given, taken] = [await from.columns(table), await to.columns(table)].map((columns) =>
    columns.filter((column) => !OWN_COLUMNS.has(column)).toSorted(),
  ) as [string[], string[]];
  if (given.join() === taken.join()) return given;
  throw new FormsvcError("failed", `the table ${table} has other columns in the copy: ${taken.join(", ")}`);
}

/** A checksum of rows: the sum of their hashes, so that the order of the rows does not matter. */
class Checksum {
  rows = 0;
  #sum = 0n;

  add(rows: readonly Values[]): void {
    for (const values of rows) {
      const digest = hash("sha256", JSON.stringify(values.map(comparable)), "buffer");
      this.#sum = BigInt.asUintN(64, this.#sum + digest.readBigUInt64LE());
    }
    this.rows += rows.length;
  }

  equals(other: Checksum): boolean {
    return this.rows === other.rows && this.#sum === other.#sum;
  }
}

function comparable(value: unknown): unknown {
  return Buffer.isBuffer(value) ? { bytes: value.toString("base64") } : value;
}
