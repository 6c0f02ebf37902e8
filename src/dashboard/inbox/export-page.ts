import { Readable } from "node:stream";
import { type ExportFormat, exportSubmissions } from "../../submissions/export-submissions.ts";
import { download } from "../answer.ts";
import { exportInput, readInboxFilter } from "./inbox-filter.ts";
import type { Routes, Visit } from "../routes.ts";

/** Spreadsheets take a file without it for one of their country's old character set. */
const BYTE_ORDER_MARK = "\ufeff";

/**
 * Everything that fits the filter of the inbox, on every page of it, as the command `submission export` writes it. The CSV begins with a
 * byte order mark, because people open it by pressing on it.
 */
export function exportPages(routes: Routes): void {
  const add = (format: ExportFormat, type: string): void =>
    routes.read(`/export.${format}`, async ({ query, now, stream }: Visit) => {
      const exported = await stream(exportSubmissions, { ...exportInput(readInboxFilter(query)), format });
      const day = new Date(now).toISOString().slice(0, 10);
      const begin = format === "csv" ? BYTE_ORDER_MARK : "";
      return download(`submissions-${day}.${format}`, type, Readable.from(textsOf(begin, exported)));
    });
  add("csv", "text/csv; charset=utf-8");
  add("json", "application/json; charset=utf-8");
}

/** The stream asks for the next part when its reader took the one before, so that a slow one costs no memory. */
async function* textsOf(
  begin: string,
  parts: AsyncIterable<{ readonly text: string }>,
): AsyncGenerator<string> {
  if (begin !== "") yield begin;
  for await (const { text } of parts) if (text !== "") yield text;
}
