import type { z } from "zod";
import { countOf } from "../../foundation/count-of.ts";
import { FormsvcError } from "../../foundation/errors.ts";
import { plainText } from "../../foundation/plain-text.ts";
import { TABLE_FORMATS, type TableFormat } from "../../submissions/import/import-formats.ts";
import { type BroughtFiles, importSubmissions } from "../../submissions/import/import-submissions.ts";
import { importTable } from "../../submissions/import/import-table.ts";
import { command, type CommandContext, parseFile } from "../command.ts";
import { doneBeside } from "../open.ts";
import { operate } from "../operate.ts";
import type { Output } from "../output/output.ts";
import type { Terminal } from "../output/terminal.ts";
import { importFile, intoOptions } from "../transfer/import-file.ts";
import { filesToImport } from "../transfer/import-files.ts";

/** The largest number of refused rows or files that a person is shown. */
const SHOWN_REFUSALS = 20;

export const importCommand = command({
  usage: "import <file>",
  summary:
    "Add the submissions of an export in NDJSON or JSON, or of another service; existing ones are skipped",
  notes: `Without --format, the file is an export of formsvc in NDJSON or JSON, and is restored: its submissions keep their ids and
times, and deleted ones come back. With --format, submissions that were deleted after an earlier import do not come
back; ndjson is an export of formsvc, the other formats are CSV or JSON of other services. Nothing is scored, held, counted or sent.

The submissions.ndjson of a workspace's archive names endpoints too: if settings.json was applied, --workspace puts
each submission into the endpoint with its name, and --files takes the folder "files" of the archive.`,
  options: [
    ...intoOptions,
    {
      flags: "--format <format>",
      summary: "the service that wrote the file; csv is for any other table",
      choices: [...TABLE_FORMATS, "ndjson"],
    },
    {
      flags: "--map <column=field>",
      summary:
        "field that a column goes to; the field created_at is the time, an empty field leaves the column out; repeatable",
      repeatable: true,
    },
    {
      flags: "--files <folder>",
      summary: "import the files too, from the folder that export --files wrote",
      parse: parseFile,
    },
    {
      flags: "--encoding <encoding>",
      summary: "character encoding of the file, like windows-1252 (default: UTF-8)",
    },
    {
      flags: "--without-times",
      summary: "give each row the time of the import if no column has its time, as in a list of contacts",
    },
    { flags: "--dry-run", summary: "say what would be imported and refused, and store nothing" },
  ],
  examples: [
    "formsvc submission import all.ndjson --endpoint Contact --files all-files",
    "formsvc submission import archive/submissions.ndjson --workspace 'Client sites' --files archive/files",
    "formsvc submission import formspree.csv --endpoint Contact --format formspree --dry-run",
    "formsvc submission import old.csv --endpoint Contact --format csv --map Mail=email --map When=created_at",
  ],
  action: (context, options, [file]) =>
    operate(context, async (terminal) => {
      refuseUnfit(options);
      const { format, files: folder, endpoint, workspace, dryRun } = options;
      if (format !== null && format !== "ndjson")
        return bringTable(context, terminal, { ...options, format, file });
      const input = { endpoint, workspace, imported_from: format, dry_run: dryRun };
      const { imported } =
        folder === null
          ? await terminal.bring(importSubmissions, input, importFile(file))
          : await bringWithFiles(context, terminal, { ...input, file, folder });
      return showImported(context.output, imported, options);
    }),
});

type Imported = z.output<typeof importSubmissions.output>["imported"];

interface ImportFlags {
  /** Null is an export of formsvc. */
  readonly format: TableFormat | "ndjson" | null;
  readonly files: string | null;
  readonly map: readonly string[] | null;
  readonly encoding: string | null;
  readonly withoutTimes: boolean;
  readonly dryRun: boolean;
}

/** @throws usage for a flag that does not go with the others */
function refuseUnfit({ format, files, map, encoding, withoutTimes, dryRun }: ImportFlags): void {
  if (format !== null && format !== "ndjson") {
    if (files === null) return;
    throw new FormsvcError(
      "usage",
      "--files is for an export of formsvc in NDJSON or JSON, without --format; a table has no files",
    );
  }
  const given = [
    map !== null && "--map",
    encoding !== null && "--encoding",
    withoutTimes && "--without-times",
  ];
  const flag = given.find((each) => each !== false);
  if (flag !== undefined)
    throw new FormsvcError(
      "usage",
      `${flag} is for the export of another service; name it: --format ${TABLE_FORMATS.join("|")}`,
    );
  if (dryRun && files !== null)
    throw new FormsvcError("usage", "--dry-run says nothing about files; leave out --files");
}

/** @throws failed if files were refused, after the result was printed */
function showImported(
  output: Output,
  imported: Imported,
  { format, dryRun }: Pick<ImportFlags, "format" | "dryRun">,
): void {
  const { added, known, elsewhere = 0, new_ids: newIds = 0, files } = imported;
  if (output.isJson) output.json(format === null ? { imported } : asTable(imported));
  const did = dryRun ? "would be added" : "added";
  output.note(`${countOf(added, "submission")} ${did}, ${known} ${known === 1 ? "was" : "were"} there`);
  if (elsewhere > 0) output.note(inAnotherForm(elsewhere));
  if (newIds > 0) output.note(withNewId(newIds, dryRun));
  if (files !== undefined) showBrought(output, files);
}

/** The result in the members that the import of a table has, for a script that names the format of each file. */
function asTable({ added, known, elsewhere = 0, new_ids: newIds = 0, files }: Imported) {
  return {
    rows: added + known,
    imported: added,
    known,
    ...(elsewhere > 0 && { elsewhere }),
    ...(newIds > 0 && { new_ids: newIds }),
    refused: [],
    unmapped: [],
    ...(files && { files }),
  };
}

function inAnotherForm(count: number): string {
  return `${count} of these ${count === 1 ? "is" : "are"} in another form, which keeps ${count === 1 ? "it" : "them"}; to have copies in this one, export as csv and import that with --format csv`;
}

function withNewId(count: number, isDry: boolean): string {
  const [get, have] = count === 1 ? ["gets", "its id"] : ["get", "their ids"];
  return `${count} of these ${isDry ? get : "got"} a new id: another workspace has ${have}`;
}

interface WithFiles {
  readonly endpoint: string | null;
  readonly workspace: string | null;
  readonly imported_from: "ndjson" | null;
  readonly dry_run: boolean;
  readonly file: string;
  readonly folder: string;
}

/** @throws usage if a server was chosen, because a folder of files cannot be sent in a request */
function bringWithFiles(
  { server, clock }: CommandContext,
  { here, perform }: Terminal,
  { file, folder, ...input }: WithFiles,
) {
  if (here === null && server !== null) throw doneBeside(server);
  const files = filesToImport(folder, clock);
  return perform(importSubmissions, input, () => ({ source: importFile(file), files }));
}

/** @throws failed if files were refused */
function showBrought(output: Output, files: BroughtFiles): void {
  const { added, known, refused, refused_count: count } = files;
  output.note(`${countOf(added, "file")} added, ${known} known`);
  for (const { submission_id: submission, name, message } of refused.slice(0, SHOWN_REFUSALS))
    output.note(`${submission}, ${plainText(name)}: ${message}`);
  if (count === 0) return;
  const what = `${countOf(count, "file")} could not be added`;
  throw new FormsvcError(
    "failed",
    `${what}; mend what the lines above say of ${count === 1 ? "it" : "them"}, and run it again`,
  );
}

interface TableOptions {
  readonly file: string;
  readonly format: TableFormat;
  readonly endpoint: string | null;
  readonly workspace: string | null;
  readonly map: readonly string[] | null;
  readonly encoding: string | null;
  readonly withoutTimes: boolean;
  readonly dryRun: boolean;
}

/** @throws failed if rows were refused, after the result was printed */
async function bringTable(
  { output }: CommandContext,
  { bring }: Terminal,
  { file, format, map, dryRun, ...options }: TableOptions,
): Promise<void> {
  const { endpoint, workspace, encoding, withoutTimes } = options;
  if (endpoint === null)
    throw new FormsvcError(
      "usage",
      `the rows of ${format} name no endpoint; say where they go: --endpoint ENDPOINT`,
    );
  const how = { format, map: map ?? [], encoding, without_times: withoutTimes, dry_run: dryRun };
  const input = { endpoint, workspace, ...how };
  const done = await bring(importTable, input, importFile(file));
  const { rows, imported, known, refused, unmapped } = done;
  if (output.isJson) output.json(done);
  else {
    for (const { line, field, message } of refused.slice(0, SHOWN_REFUSALS))
      output.line(`line ${line}${field === null ? "" : `, ${plainText(field)}`}: ${plainText(message)}`);
    if (unmapped.length > 0)
      output.note(`columns that nothing became of: ${unmapped.map((name) => plainText(name)).join(", ")}`);
    const did = dryRun ? "would be imported" : "imported";
    output.note(
      `${countOf(rows, "row")}: ${imported} ${did}, ${known} known, ${rows - imported - known} refused`,
    );
  }
  const count = rows - imported - known;
  if (count > 0)
    throw new FormsvcError(
      "failed",
      `${countOf(count, "row")} ${count === 1 ? "does" : "do"} not fit the form`,
    );
}
