import { Readable } from "node:stream";
import { jsonText } from "../../foundation/plain-text.ts";
import { exportSubmissions, type ExportFormat } from "../../submissions/export-submissions.ts";
import { isLookup } from "../../submissions/submission-store.ts";
import { submissionJson } from "../../submissions/submission-json.ts";
import { download } from "../answer.ts";
import { readInboxFilter, toSubmissionFilter } from "./inbox-filter.ts";
import type { DashboardParts } from "../parts.ts";
import type { Routes, Visit } from "../routes.ts";

/** Spreadsheets take a file without it for one of their country's old character set. */
const BYTE_ORDER_MARK = "\ufeff";

/**
 * Everything that fits the filter of the inbox, on every page of it, as the command `submission export` writes it. The CSV begins with a
 * byte order mark, because people open it by pressing on it.
 */
export function exportPages(routes: Routes, parts: DashboardParts): void {
  const add = (format: ExportFormat, type: string): void =>
    routes.read(`/export.${format}`, async ({ viewer, query, now, gone }: Visit) => {
      const shown = readInboxFilter(query);
      const filter = await parts.db.read(() => toSubmissionFilter(shown, viewer, now));
      const exported = exportSubmissions(parts.db, {
        filter,
        format,
        limit: null,
        cursor: null,
        toJson: (submission) => jsonText(submissionJson(submission)),
        gone,
      });
      const asker = { name: viewer.accountId, gone };
      const paced = isLookup(filter) ? parts.searches.runEach(asker, exported) : exported;
      const day = new Date(now).toISOString().slice(0, 10);
      const begin = format === "csv" ? BYTE_ORDER_MARK : "";
      return download(`submissions-${day}.${format}`, type, Readable.from(textsOf(begin, paced)));
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
