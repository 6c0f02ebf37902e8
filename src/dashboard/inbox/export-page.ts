import { Readable } from "node:stream";
import type { Steps } from "../../database/steps.ts";
import { html, type Html } from "../../foundation/html.ts";
import { archiveFiles } from "../../submissions/export/archive-files.ts";
import { COLUMN_ORDERS } from "../../submissions/export/export-columns.ts";
import { CSV_SEPARATORS } from "../../submissions/export/csv.ts";
import {
  EXPORT_TYPES,
  type ExportFormat,
  exportSubmissions,
  partContent,
} from "../../submissions/export/export-submissions.ts";
import { listViewableWorkspaces } from "../../workspaces/workspace-store.ts";
import { type Answer, download, page } from "../answer.ts";
import { checkField, choiceField, textField } from "../kit/field.ts";
import type { DashboardParts } from "../parts.ts";
import { addressOf, exportInput, filterMembers, isEverything, readInboxFilter } from "./inbox-filter.ts";
import type { Routes, Visit } from "../routes.ts";

/** Without it, spreadsheet programs read a file in the old character set of their country. */
const BYTE_ORDER_MARK = "\ufeff";

/**
 * Exports everything that matches the filter of the inbox, on all its pages, in the form of the command `submission export`. The CSV begins
 * with a byte order mark, because people open it by double-clicking.
 */
export function exportPages(routes: Routes, parts: DashboardParts): void {
  const add = (format: ExportFormat): void =>
    routes.read(`/export.${format}`, async ({ query, now, stream }: Visit) => {
      const chosen = { ...exportInput(readInboxFilter(query)), ...tableInput(format, query), format };
      const exported = await stream(exportSubmissions, chosen);
      const day = new Date(now).toISOString().slice(0, 10);
      const begin = format === "csv" ? BYTE_ORDER_MARK : "";
      const content = Readable.from(contentsOf(begin, exported));
      return download(`submissions-${day}.${format}`, EXPORT_TYPES[format], content);
    });
  add("csv");
  add("xlsx");
  add("json");
  routes.read("/export.zip", async ({ query, now, stream }: Visit) => {
    const chosen = { ...exportInput(readInboxFilter(query)), format: "ndjson" } as const;
    const exported = await stream(exportSubmissions, chosen);
    const day = new Date(now).toISOString().slice(0, 10);
    const archive = archiveFiles(parts.db, submissionsWithFiles(exported));
    return download(`files-${day}.zip`, "application/zip", archive);
  });
  routes.read("/choose-export", (visit) => choicePage(visit, parts));
}

/** The table's options from an address. A value that the page does not offer means the default. */
function tableInput(format: ExportFormat, query: URLSearchParams) {
  const zone = query.get("time_zone")?.trim() ?? "";
  const hasZone = zone !== "" && format !== "json";
  const isCsv = format === "csv";
  return {
    time_zone: hasZone ? zone : null,
    labels: isCsv && query.get("labels") === "on",
    columns: (isCsv && COLUMN_ORDERS.find((order) => order === query.get("columns"))) || null,
    separator: (isCsv && CSV_SEPARATORS.find((separator) => separator === query.get("separator"))) || null,
  };
}

async function choicePage({ query, viewer }: Visit, parts: DashboardParts): Promise<Answer> {
  const filter = readInboxFilter(query);
  exportInput(filter);
  const zone = await parts.db.read(function* (): Steps<string> {
    const zones = new Set((yield* listViewableWorkspaces(viewer)).map(({ timeZone }) => timeZone ?? "UTC"));
    const [only = "UTC"] = zones;
    return zones.size === 1 ? only : "UTC";
  });
  const hidden = Object.entries(filterMembers(filter)).filter(([, value]) => value !== "");
  const what = isEverything(filter) ? "Everything that was sent" : "Everything that fits the filter";
  return page(
    "Download submissions",
    html`<h1>Download submissions</h1>
      <p class="muted">${what}, oldest first. <a href="${addressOf(filter)}">Back to the inbox</a></p>
      <form class="card stacked" method="get" action="/dashboard/export.xlsx">
          ${hidden.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`)}
          ${textField({ name: "time_zone", label: "Time zone of the times", value: zone, hint: "A name like Europe/Berlin or UTC." })}
          ${CSV_FIELDS}
        <p class="actions-left">
          <button class="primary">Download for Excel (.xlsx)</button>
          <button formaction="/dashboard/export.csv">Download CSV</button>
          <button formaction="/dashboard/export.json">Download JSON</button>
        </p>
      </form>`,
  );
}

/** The options that apply only to CSV. */
const CSV_FIELDS: Html = html`${choiceField({ name: "columns", label: "Columns of a CSV", value: "people" }, [
  { value: "people", label: "For people", about: "When, form and fields first, headed by their labels." },
  { value: "technical", label: "For programs", about: "Ids first, always in the same order." },
])}
${checkField({ name: "labels", label: "Use labels as headings for programs, too", value: "" })}
${choiceField({ name: "separator", label: "Between two cells of a CSV", value: "," }, [
  { value: ",", label: "Comma", about: "" },
  { value: ";", label: "Semicolon", about: "Excel expects it in countries that write 1,5." },
])}`;

/** The ids of the exported submissions that name files. */
async function* submissionsWithFiles(
  parts: AsyncIterable<Parameters<typeof partContent>[0]>,
): AsyncGenerator<string> {
  for await (const part of parts)
    for (const line of partContent(part).toString().split("\n"))
      if (line.includes('"fil_')) yield (JSON.parse(line) as { readonly id: string }).id;
}

/** The content of an export. The next part is made only after the reader took the one before, so a slow reader costs no memory. */
async function* contentsOf(
  begin: string,
  parts: AsyncIterable<Parameters<typeof partContent>[0]>,
): AsyncGenerator<string | Buffer> {
  if (begin !== "") yield begin;
  for await (const part of parts) {
    const content = partContent(part);
    if (content.length > 0) yield content;
  }
}
