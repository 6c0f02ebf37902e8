import { isId } from "../../foundation/id.ts";
import { FORMATS, TABLE_FORMATS, type TableFormat } from "./import-formats.ts";
import { exportLinesOf, type ImportedFile } from "./imported-file.ts";
import { mapColumns, type MappingRequest } from "./map-columns.ts";
import { openTable } from "./table-rows.ts";

/** The formats that can be imported: exports of other services, any table, and our own lines. */
export const IMPORT_FORMATS = [...TABLE_FORMATS, "ndjson"] as const;
export type ImportFormat = (typeof IMPORT_FORMATS)[number];

/** A column of a table, with its target: a field, `created_at` or another role. The target is empty if the column is not imported. */
export interface ImportColumn {
  readonly name: string;
  readonly target: string;
}

/**
 * Recognises the service whose export a file is by the headings of its columns. A table with unknown headings is `csv`.
 *
 * @throws usage if the file is neither a table nor our own lines
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
  const first = await exportLinesOf(source)
    .next()
    .catch(() => null);
  try {
    const text = first?.done === false ? first.value.text : "";
    const { id } = Object(JSON.parse(text)) as { readonly id?: unknown };
    return typeof id === "string" && isId("sub", id);
  } catch {
    return false;
  }
}

interface ColumnRequest extends Omit<MappingRequest, "format"> {
  readonly format: TableFormat;
  readonly encoding: string | null;
}

/** Lists the columns of a table that have a name, in their order. @throws usage as {@link openTable} and {@link mapColumns} do */
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
