import { COLUMN_ORDERS } from "../submissions/export-columns.ts";
import { EXPORT_FORMATS, exportSubmissions, partContent } from "../submissions/export-submissions.ts";
import { importSubmissions } from "../submissions/import-submissions.ts";
import { parseCount } from "./arguments.ts";
import { command, parseFile } from "./command.ts";
import { createExportFile } from "./export-file.ts";
import { importFile } from "./import-file.ts";
import { operate } from "./operate.ts";
import { countOf } from "../foundation/count-of.ts";
import { filterInput, filterOptions, searchOption, workOptions } from "./submission-filter.ts";

const MAX_EXPORT_LIMIT = 999_999_999;

export const exportCommand = command({
  usage: "export",
  summary: "Write submissions, oldest first, as CSV, as a spreadsheet, as JSON lines or as one JSON array",
  options: [
    {
      flags: "--format <format>",
      summary:
        "csv (default; of the fields kept beyond the schemas 1000 have columns, the rest is JSON in more_data; what was set aside is JSON in unknown_fields), xlsx, ndjson (default with --json) or json",
      choices: EXPORT_FORMATS,
    },
    {
      flags: "--columns <order>",
      summary: "of csv: technical (default) or people: when, form and fields first; xlsx always has people",
      choices: COLUMN_ORDERS,
    },
    { flags: "--labels", summary: "of csv: fields are headed by their labels, as for people" },
    {
      flags: "--time-zone <zone>",
      summary:
        "of times in csv and xlsx, like Europe/Berlin (default: UTC, and for people the workspace's, if it is of one)",
    },
    {
      flags: "--separator <separator>",
      summary: "between two cells of csv: a comma (default) or a semicolon, in quotes",
      choices: [",", ";"],
    },
    ...filterOptions,
    searchOption,
    ...workOptions,
    { flags: "--limit <count>", summary: "how many at most", parse: parseCount(MAX_EXPORT_LIMIT) },
    { flags: "--cursor <submission>", summary: "only what comes after this id, like the last one exported" },
    {
      flags: "--output <file>",
      summary: "a new file, mode 0600 (default: standard output)",
      parse: parseFile,
    },
  ],
  examples: [
    "formsvc submission export --endpoint Contact --since 2026-01-01 --output january.csv",
    "formsvc submission export --columns people --separator ';' --time-zone Europe/Berlin --output januar.csv",
    "formsvc submission export --endpoint Contact --format xlsx --output contact.xlsx",
    "formsvc submission export --format ndjson --output all.ndjson",
  ],
  action: (context, options) =>
    operate(context, async ({ stream }) => {
      const { output } = context;
      const { output: name, search, state, assignee, limit, cursor } = options;
      const { columns, labels, separator, timeZone } = options;
      const format = options.format ?? (output.isJson ? "ndjson" : "csv");
      const chosen = { ...filterInput(options), search, state, assignee };
      const look = { columns, labels, separator, time_zone: timeZone };
      const input = { ...chosen, ...look, format, limit, cursor };
      const parts = await stream(exportSubmissions, input, () => ({ searches: null }));
      const file = name === null ? null : createExportFile(name);
      let count = 0;
      try {
        for await (const part of parts) {
          const content = partContent(part);
          if (typeof content === "string") (file ?? output).text(content);
          else (file ?? output).bytes(content);
          count = part.count;
          output.progress(`${count} exported`);
        }
        file?.finish();
      } finally {
        file?.abandon();
      }
      if (name !== null && output.isJson) output.json({ exported: count, file: name });
      output.note(`${countOf(count, "submission")} exported${name === null ? "" : ` to ${name}`}`);
    }),
});

export const importCommand = command({
  usage: "import <file>",
  summary: "Add the submissions of an export in NDJSON, with their ids and times; existing ones are skipped",
  options: [
    {
      flags: "--endpoint <endpoint>",
      summary: "put all of them here (default: the endpoint with the id that each names)",
    },
  ],
  examples: ["formsvc submission import all.ndjson --endpoint Contact"],
  action: (context, options, [file]) =>
    operate(context, async ({ perform }) => {
      const { output } = context;
      const parts = () => ({ source: importFile(file) });
      const { imported } = await perform(importSubmissions, { endpoint: options.endpoint }, parts);
      if (output.isJson) return output.json({ imported });
      return output.note(
        `${countOf(imported.added, "submission")} added, ${imported.known} ${imported.known === 1 ? "was" : "were"} there`,
      );
    }),
});
