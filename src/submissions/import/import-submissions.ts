import { createHash } from "node:crypto";
import { z } from "zod";
import { yieldToOthers } from "../../database/slices.ts";
import { run, type Steps, text } from "../../database/steps.ts";
import type { Endpoint } from "../../endpoints/endpoint.ts";
import { reachEndpoint } from "../../endpoints/endpoint-store.ts";
import { changed, type Context, operation, type Outcome } from "../../operations/operation.ts";
import { addImportedWork } from "./imported-work.ts";
import { bringFiles, type FilesToImport, type RefusedFile } from "./import-files.ts";
import { importBegan } from "./import-record.ts";
import type { ImportParts } from "./imported-file.ts";
import { claimRows, idHash, knownRows } from "./imported-rows.ts";
import { batchesOf, chooseTargets, countLines, importInput, readExport } from "./read-export.ts";
import { RowCounts } from "./row-counts.ts";
import { readLine, type SubmissionLine, submissionLine } from "../stored/submission-json.ts";
import { ADD_IMPORTED_SQL, findEndpointsOf, importedValues } from "../stored/submission-store.ts";

interface Parts extends ImportParts {
  /** Absent if submissions are imported without the bytes of their files. */
  readonly files?: FilesToImport;
}

/** The largest number of refused files that are shown. */
const MAX_REFUSED_SHOWN = 1000;

/**
 * The whole source is checked before anything is stored. Existing submissions are skipped, so that an interrupted import can be run again.
 * Nothing counts towards a plan, and no webhook gets the submissions.
 */
export const importSubmissions = operation({
  name: "submission.import",
  summary:
    "Add the submissions of an export in NDJSON or JSON, with their ids and times; existing ones are skipped",
  kind: "write",
  access: "submissions:import",
  input: z.strictObject({
    ...importInput,
    imported_from: z
      .literal("ndjson")
      .nullable()
      .default(null)
      .describe(
        "`ndjson` notes that the submissions were imported; those that were deleted after an earlier import do not come back. Null restores each submission as it was.",
      ),
  }),
  output: z.strictObject({
    imported: z.strictObject({
      added: z.number(),
      known: z.number().describe("The number of submissions whose id exists already; they are not changed."),
      elsewhere: z
        .number()
        .optional()
        .describe("The number of known ones that another form has, and this one does not; absent if none."),
      files: z
        .strictObject({
          added: z.number(),
          known: z
            .number()
            .describe("The number of files that were here already, or were deleted since an earlier import."),
          refused: z
            .array(
              z.strictObject({
                submission_id: z.string(),
                id: z.string(),
                name: z.string(),
                message: z.string(),
              }),
            )
            .readonly()
            .describe(`The first ${MAX_REFUSED_SHOWN} files that could not be added.`),
          refused_count: z.number(),
        })
        .optional()
        .describe("Absent if no folder of files was given."),
    }),
  }),
  async *run(context: Context<Parts>, { imported_from: importedFrom, dry_run: isDry, ...reference }) {
    const { source, files } = context.parts;
    const targetOf = await chooseTargets(context, reference);
    const total = await countLines(readExport(source, submissionLine, context.now), targetOf);
    const state: Import = { importedFrom, total, recorded: new Set(), tally: new FileTally() };
    const counted = new RowCounts();
    let [added, elsewhere, done] = [0, 0, 0];
    for await (const batch of batchesOf(readExport(source, submissionLine, context.now))) {
      const lines: PreparedLine[] = [];
      for (const each of batch) lines.push(prepareLine(each, await targetOf(each), importedFrom));
      await yieldToOthers();
      let fresh: number;
      if (isDry) {
        const firsts = lines.filter(
          ({ line }) => counted.add(createHash("sha256").update(line.id).digest()) === 1,
        );
        fresh = await context.db.read(() => countNew(firsts, importedFrom));
      } else {
        const { count, away } = await bringLines(context, state, lines);
        fresh = count;
        for await (const index of bringFilesOf(context, state, lines, away))
          yield { done: done + index, total };
      }
      added += fresh;
      if (fresh < lines.length) elsewhere += await context.db.read(() => countElsewhere(lines));
      done += batch.length;
      yield { done, total };
    }
    return {
      imported: {
        added,
        known: done - added,
        ...(elsewhere > 0 && { elsewhere }),
        ...(files !== undefined && { files: state.tally.summary() }),
      },
    };
  },
});

/** Adds lines in one transaction, and returns the number of new ones. @throws not_found */
async function bringLines(
  context: Context<Parts>,
  state: Import,
  lines: readonly PreparedLine[],
): Promise<{ readonly count: number; readonly away: BroughtLines["away"] }> {
  const { endpoints, away } = await context.transact(function* () {
    // Meanwhile a form may have been deleted, or the importer may have left the workspace.
    for (const id of new Set(lines.map(({ endpoint }) => endpoint.id)))
      yield* reachEndpoint(context, { endpoint: id });
    return yield* addRows(lines, state);
  });
  let count = 0;
  for (const each of endpoints) {
    state.recorded.add(each.id);
    count += each.count;
  }
  return { count, away };
}

/** Adds the files of lines if a folder of files was given. Yields the index of the line after each file. */
async function* bringFilesOf(
  context: Context<Parts>,
  { recorded, total, tally }: Import,
  lines: readonly PreparedLine[],
  away: BroughtLines["away"],
): AsyncGenerator<number, void> {
  const { files } = context.parts;
  if (files === undefined) return;
  for (const [index, line] of lines.entries()) {
    const { line: submission, endpoint } = line;
    const began = () => (recorded.has(endpoint.id) ? null : importBegan(endpoint, total));
    const parent = { submission, endpoint, began, isDeleted: away.has(line) };
    for await (const fate of bringFiles(context, files, parent)) {
      tally.add(fate);
      if (fate === "added") recorded.add(endpoint.id);
      yield index;
    }
  }
}

function* countNew(lines: readonly PreparedLine[], importedFrom: "ndjson" | null): Steps<number> {
  const away = importedFrom === null ? new Set() : yield* stayAway(lines, importedFrom, knownRows);
  const ids = new Set(lines.filter((each) => !away.has(each)).map(({ line }) => line.id));
  return ids.size - (yield* findEndpointsOf([...ids])).size;
}

function* countElsewhere(lines: readonly PreparedLine[]): Steps<number> {
  const stored = yield* findEndpointsOf(lines.map(({ line }) => line.id));
  return lines.filter(({ line, endpoint }) => (stored.get(line.id) ?? endpoint.id) !== endpoint.id).length;
}

/** Records these hashes. Returns those that were known before. */
function* claimKnown(endpointId: string, hashes: readonly string[]): Steps<ReadonlySet<string>> {
  const fresh = yield* claimRows(endpointId, hashes);
  return new Set(hashes.filter((hash) => !fresh.has(hash)));
}

/**
 * Finds lines that were imported before, under the format's name, and whose submissions were deleted since.
 *
 * @param known returns the hashes of an endpoint that were known before; it may also record all hashes
 */
function* stayAway(
  lines: readonly PreparedLine[],
  importedFrom: "ndjson",
  known: typeof knownRows,
): Steps<ReadonlySet<PreparedLine>> {
  const imported: PreparedLine[] = [];
  for (const [endpointId, group] of Map.groupBy(lines, ({ endpoint }) => endpoint.id)) {
    const hashed = group.map((each) => ({ each, hash: idHash(importedFrom, each.line.id) }));
    const before = yield* known(endpointId, [...new Set(hashed.map(({ hash }) => hash))]);
    for (const { each, hash } of hashed) if (before.has(hash)) imported.push(each);
  }
  if (imported.length === 0) return new Set();
  const stored = yield* findEndpointsOf(imported.map(({ line }) => line.id));
  return new Set(imported.filter(({ line }) => !stored.has(line.id)));
}

/** Counts what became of the files. */
class FileTally {
  #added = 0;
  #known = 0;
  #refusedCount = 0;
  readonly #refused: RefusedFile[] = [];

  add(fate: "added" | "known" | RefusedFile): void {
    if (fate === "added") this.#added += 1;
    else if (fate === "known") this.#known += 1;
    else {
      this.#refusedCount += 1;
      if (this.#refused.length < MAX_REFUSED_SHOWN) this.#refused.push(fate);
    }
  }

  summary() {
    const refused: readonly RefusedFile[] = this.#refused;
    return { added: this.#added, known: this.#known, refused, refused_count: this.#refusedCount };
  }
}

export type BroughtFiles = ReturnType<FileTally["summary"]>;

interface PreparedLine {
  readonly line: SubmissionLine;
  readonly endpoint: Endpoint;
  readonly values: ReturnType<typeof importedValues>;
}

function prepareLine(line: SubmissionLine, endpoint: Endpoint, importedFrom: string | null): PreparedLine {
  const target = { endpointId: endpoint.id, schemaVersion: endpoint.schemaVersion, importedFrom };
  return { line, endpoint, values: importedValues(readLine(line, target)) };
}

interface Added {
  readonly id: string;
  readonly count: number;
}

/** An import under way. */
interface Import {
  readonly importedFrom: "ndjson" | null;
  /** The endpoints whose import is already in the audit record. */
  readonly recorded: Set<string>;
  readonly total: number;
  readonly tally: FileTally;
}

interface BroughtLines {
  readonly endpoints: readonly Added[];
  /** Lines whose submissions were deleted here. */
  readonly away: ReadonlySet<PreparedLine>;
}

/** Adds lines, and returns the number for each endpoint. The import of an endpoint is recorded with its first line. */
function* addRows(
  lines: readonly PreparedLine[],
  { importedFrom, recorded, total }: Import,
): Steps<Outcome<BroughtLines>> {
  const counts = new Map<Endpoint, number>();
  const away =
    importedFrom === null ? new Set<PreparedLine>() : yield* stayAway(lines, importedFrom, claimKnown);
  for (const each of lines) {
    if (away.has(each)) continue;
    const { line, endpoint, values } = each;
    const isNew = (yield* run(text(ADD_IMPORTED_SQL, ...values))) > 0;
    if (isNew) yield* addImportedWork(line);
    if (isNew) counts.set(endpoint, (counts.get(endpoint) ?? 0) + 1);
  }
  const began = [...counts.keys()].filter(({ id }) => !recorded.has(id));
  const endpoints = [...counts].map(([{ id }, count]): Added => ({ id, count }));
  return changed({ endpoints, away }, ...began.map((endpoint) => importBegan(endpoint, total)));
}
