import { isId } from "../../foundation/id.ts";
import { FORMATS, TABLE_FORMATS, type TableFormat } from "./import-formats.ts";
import { type ImportedFile, linesOf } from "./imported-file.ts";
import { mapColumns, type MappingRequest } from "./map-columns.ts";
import { openTable } from "./table-rows.ts";

/** What is imported: an export of another service, any table, or lines of our own. */
export const IMPORT_FORMATS = [...TABLE_FORMATS, "ndjson"] as const;
export type ImportFormat = (typeof IMPORT_FORMATS)[number];

/** A column of a table, and what becomes of it: a field, `created_at` or another role; empty if nothing does. */
export interface ImportColumn {
  readonly name: string;
  readonly target: string;
}

/**
 * Whose export a file is, by what its columns are called; a table that no service is known by is any table.
 *
 * @throws usage if it is neither a table nor lines of our own
 */
export async function findFormat(source: ImportedFile, encoding: string | null): Promise<ImportFormat> {
  if (await isOwnExport(source)) return "ndjson";
  const { headings } = await openTable(source, { format: "csv", encoding });
  const names = headings.map((heading) => heading.trim().toLowerCase());
  const [first = ""] = names;
  if (names.some((name) => FORMSPREE_ONLY.has(name))) return "formspree";
  if (names.includes("payload_params")) return "basin";
  if (names.includes("data") && names.includes("form_name")) return "netlify";
  return Object.hasOwn(FORMATS.google.roles, first) ? "google" : "csv";
}

const FORMSPREE_ONLY: ReadonlySet<string> = new Set(["_date", "_id", "_replyto"]);

async function isOwnExport(source: ImportedFile): Promise<boolean> {
  const first = await linesOf(source)
    .next()
    .catch(() => null);
  try {
    const { id } = Object(JSON.parse(String(first?.value))) as { readonly id?: unknown };
    return typeof id === "string" && isId("sub", id);
  } catch {
    return false;
  }
}

interface ColumnRequest extends Omit<MappingRequest, "format"> {
  readonly format: TableFormat;
  readonly encoding: string | null;
}

/** The columns of a table with a name, in their order. @throws usage as {@link openTable} and {@link mapColumns} */
export async function readColumns(source: ImportedFile, request: ColumnRequest): Promise<ImportColumn[]> {
  const { headings } = await openTable(source, request);
  const { fields, roles } = mapColumns(headings, request);
  const targets = new Map<number, string>([
    ...fields.map(({ index, field }): [number, string] => [index, field]),
    ...[...roles].map(([role, index]): [number, string] => [index, role]),
  ]);
  return headings
    .map((heading, index) => ({ name: heading.trim(), target: targets.get(index) ?? "" }))
    .filter(({ name }) => name !== "");
}
