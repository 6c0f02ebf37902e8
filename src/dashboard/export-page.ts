import { Readable } from "node:stream";
import { jsonText } from "../foundation/plain-text.ts";
import { exportSubmissions, type ExportFormat } from "../submissions/export-submissions.ts";
import { submissionJson } from "../submissions/submission-json.ts";
import { download } from "./answer.ts";
import { readInboxFilter, toSubmissionFilter } from "./inbox-filter.ts";
import type { DashboardParts } from "./parts.ts";
import type { Routes, Visit } from "./routes.ts";

/** Everything that fits the filter of the inbox, on every page of it, as the command `submission export` writes it. */
export function exportPages(routes: Routes, parts: DashboardParts): void {
  const add = (format: ExportFormat, type: string): void =>
    routes.read(`/export.${format}`, async ({ viewer, query, now }: Visit) => {
      const shown = readInboxFilter(query);
      const filter = await parts.db.read(() => toSubmissionFilter(shown, viewer));
      const exported = exportSubmissions(parts.db, {
        filter,
        format,
        limit: null,
        cursor: null,
        toJson: (submission) => jsonText(submissionJson(submission)),
      });
      const day = new Date(now).toISOString().slice(0, 10);
      return download(`submissions-${day}.${format}`, type, Readable.from(textsOf(exported)));
    });
  add("csv", "text/csv; charset=utf-8");
  add("json", "application/json; charset=utf-8");
}

/** The stream asks for the next part when its reader took the one before, so that a slow one costs no memory. */
async function* textsOf(parts: AsyncIterable<{ readonly text: string }>): AsyncGenerator<string> {
  for await (const { text } of parts) if (text !== "") yield text;
}
