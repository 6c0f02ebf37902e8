import { FormsvcError } from "../../foundation/errors.ts";
import { countOf } from "../../foundation/count-of.ts";
import { COLUMN_ORDERS } from "../../submissions/export/export-columns.ts";
import {
  EXPORT_FORMATS,
  exportSubmissions,
  partContent,
} from "../../submissions/export/export-submissions.ts";
import { command, parseFile } from "../command.ts";
import { parseCount } from "../flags/arguments.ts";
import { filterInput, filterOptions, searchOption, workOptions } from "../flags/submission-filter.ts";
import { operate } from "../operate.ts";
import type { Output } from "../output/output.ts";
import { createExportFile } from "../transfer/export-file.ts";
import { type ExportFolder, openExportFolder, type SavedFiles, saveFiles } from "../transfer/export-files.ts";

const MAX_EXPORT_LIMIT = 999_999_999;
/** The largest number of missing files that a person is shown. */
const SHOWN_MISSING = 20;

export const exportCommand = command({
  usage: "export",
  summary: "Write submissions, oldest first, as CSV, as a spreadsheet, as JSON lines or as one JSON array",
  options: [
    {
      flags: "--format <format>",
      summary:
        "csv (default), xlsx, ndjson (default with --json) or json; in csv, up to 1000 fields that no schema declares have columns, further ones are JSON in more_data, and what was set aside is JSON in unknown_fields",
      choices: EXPORT_FORMATS,
    },
    {
      flags: "--columns <order>",
      summary:
        "order of the columns of csv: technical (default), or people, with time, form and fields first; xlsx always has people",
      choices: COLUMN_ORDERS,
    },
    {
      flags: "--labels",
      summary: "head the columns of csv by the labels of the fields, as with --columns people",
    },
    {
      flags: "--time-zone <zone>",
      summary:
        "time zone of times in csv and xlsx, like Europe/Berlin (default: UTC; for people the zone of the workspace, if all come from one)",
    },
    {
      flags: "--separator <separator>",
      summary: "character between two cells of csv: a comma (default) or a semicolon, in quotes",
      choices: [",", ";"],
    },
    ...filterOptions,
    searchOption,
    ...workOptions,
    {
      flags: "--limit <count>",
      summary: "write at most this number of submissions",
      parse: parseCount(MAX_EXPORT_LIMIT),
    },
    {
      flags: "--cursor <submission>",
      summary: "only submissions after the one with this id, like the last one exported",
    },
    {
      flags: "--output <file>",
      summary: "write to a new file, of mode 0600 (default: standard output)",
      parse: parseFile,
    },
    {
      flags: "--files <folder>",
      summary:
        "save the files of the submissions in this folder, each as SUBMISSION/NAME; a file that is there with the same bytes stays",
      parse: parseFile,
    },
  ],
  examples: [
    "formsvc submission export --endpoint Contact --since 2026-01-01 --output january.csv",
    "formsvc submission export --columns people --separator ';' --time-zone Europe/Berlin --output januar.csv",
    "formsvc submission export --endpoint Contact --format xlsx --output contact.xlsx",
    "formsvc submission export --format ndjson --output all.ndjson --files all-files",
  ],
  action: (context, options) =>
    operate(context, async (terminal) => {
      const { output } = context;
      const { output: name, search, state, assignee, limit, cursor } = options;
      const { columns, labels, separator, timeZone } = options;
      const format = options.format ?? (output.isJson ? "ndjson" : "csv");
      const chosen = { ...filterInput(options), search, state, assignee };
      const look = { columns, labels, separator, time_zone: timeZone };
      const folder = options.files === null ? null : openExportFolder(options.files);
      const input = { ...chosen, ...look, format, limit, cursor, files: folder !== null };
      const fileIds: string[] = [];
      const parts = await terminal.stream(exportSubmissions, input, () => ({ searches: null }));
      const file = name === null ? null : createExportFile(name);
      let count = 0;
      try {
        for await (const part of parts) {
          const content = partContent(part);
          if (typeof content === "string") (file ?? output).text(content);
          else (file ?? output).bytes(content);
          count = part.count;
          fileIds.push(...(part.files ?? []));
          output.progress(`${count} exported`);
        }
        file?.finish();
      } finally {
        file?.abandon();
      }
      const saved = folder === null ? null : await saveFiles(terminal, folder, fileIds, output);
      if (name !== null && output.isJson)
        output.json({ exported: count, file: name, ...(saved && { files: saved }) });
      output.note(`${countOf(count, "submission")} exported${name === null ? "" : ` to ${name}`}`);
      if (folder !== null && saved !== null) showSaved(output, folder, saved);
    }),
});

/** @throws failed if files are missing */
function showSaved(output: Output, { path }: ExportFolder, { saved, known, missing }: SavedFiles): void {
  output.note(`${countOf(saved, "file")} saved in ${path}, ${known} ${known === 1 ? "was" : "were"} there`);
  if (missing.length === 0) return;
  for (const { id, message } of missing.slice(0, SHOWN_MISSING)) output.note(`${id}: ${message}`);
  const what = countOf(missing.length, "file");
  throw new FormsvcError("failed", `${what} could not be saved; everything else is exported`);
}
