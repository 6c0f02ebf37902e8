import { createHash } from "node:crypto";
import { z } from "zod";
import type { Database } from "../../database/database.ts";
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
import { checkPlaced, placeFiles, placeIds } from "./place-ids.ts";
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
      new_ids: z
        .number()
        .optional()
        .describe(
          "The number of added ones that got another id, because another workspace has a submission with theirs; absent if none.",
        ),
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
    let [added, elsewhere, newIds, done] = [0, 0, 0, 0];
    for await (const batch of batchesOf(readExport(source, submissionLine, context.now))) {
      const given: GivenLine[] = [];
      for (const each of batch) given.push({ given: each, endpoint: await targetOf(each) });
      const placed = await placeLines(context.db, given, importedFrom);
      await yieldToOthers();
      let brought: Brought;
      if (isDry) brought = await context.db.read(() => lookAt(placed, importedFrom, counted));
      else {
        brought = await bringLines(context, state, placed);
        for await (const index of bringFilesOf(context, state, brought)) yield { done: done + index, total };
      }
      const { lines, count } = brought;
      added += count;
      newIds += brought.newIds;
      if (count < lines.length) elsewhere += await context.db.read(() => countElsewhere(lines));
      done += batch.length;
      yield { done, total };
    }
    return {
      imported: {
        added,
        known: done - added,
        ...(elsewhere > 0 && { elsewhere }),
        ...(newIds > 0 && { new_ids: newIds }),
        ...(files !== undefined && { files: state.tally.summary() }),
      },
    };
  },
});

/** Adds lines in one transaction. @throws not_found, conflict */
async function bringLines(
  context: Context<Parts>,
  state: Import,
  lines: readonly PlacedLine[],
): Promise<Brought> {
  const { endpoints, ...brought } = await context.transact(function* () {
    // Meanwhile a form may have been deleted, or the importer may have left the workspace.
    for (const id of new Set(lines.map(({ endpoint }) => endpoint.id)))
      yield* reachEndpoint(context, { endpoint: id });
    return yield* addRows(lines, state);
  });
  for (const id of endpoints) state.recorded.add(id);
  return brought;
}

/** Adds the files of lines if a folder of files was given. Yields the index of the line after each file. */
async function* bringFilesOf(
  context: Context<Parts>,
  { recorded, total, tally }: Import,
  { lines, away }: Brought,
): AsyncGenerator<number, void> {
  const { files } = context.parts;
  if (files === undefined) return;
  for (const [index, { given, id, endpoint }] of lines.entries()) {
    const began = () => (recorded.has(endpoint.id) ? null : importBegan(endpoint, total));
    const parent = { submission: given, storedId: id, endpoint, began, isDeleted: away.has(id) };
    for await (const fate of bringFiles(context, files, parent)) {
      tally.add(fate);
      if (fate === "added") recorded.add(endpoint.id);
      yield index;
    }
  }
}

/** Tells what {@link bringLines} would do. */
function* lookAt(
  lines: readonly PlacedLine[],
  importedFrom: "ndjson" | null,
  counted: RowCounts,
): Steps<Brought> {
  const firsts = lines.filter(({ id }) => counted.add(createHash("sha256").update(id).digest()) === 1);
  const away = importedFrom === null ? new Set<string>() : yield* stayAway(firsts, importedFrom, knownRows);
  const stored = yield* findEndpointsOf(firsts.map(({ id }) => id));
  const fresh = firsts.filter(({ id }) => !away.has(id) && !stored.has(id));
  return { lines, away, count: fresh.length, newIds: fresh.filter(hasNewId).length };
}

function* countElsewhere(lines: readonly PlacedLine[]): Steps<number> {
  const stored = yield* findEndpointsOf(lines.map(({ id }) => id));
  return lines.filter(({ id, endpoint }) => (stored.get(id) ?? endpoint.id) !== endpoint.id).length;
}

/** Records these hashes. Returns those that were known before. */
function* claimKnown(endpointId: string, hashes: readonly string[]): Steps<ReadonlySet<string>> {
  const fresh = yield* claimRows(endpointId, hashes);
  return new Set(hashes.filter((hash) => !fresh.has(hash)));
}

/**
 * Finds lines that were imported before, under the format's name, and whose submissions were deleted since. Returns the ids of those.
 *
 * @param known returns the hashes of an endpoint that were known before; it may also record all hashes
 */
function* stayAway(
  lines: readonly PlacedLine[],
  importedFrom: "ndjson",
  known: typeof knownRows,
): Steps<ReadonlySet<string>> {
  const imported: string[] = [];
  for (const [endpointId, group] of Map.groupBy(lines, ({ endpoint }) => endpoint.id)) {
    const hashed = group.map(({ id, given }) => ({ id, hash: idHash(importedFrom, given.id) }));
    const before = yield* known(endpointId, [...new Set(hashed.map(({ hash }) => hash))]);
    for (const { id, hash } of hashed) if (before.has(hash)) imported.push(id);
  }
  if (imported.length === 0) return new Set();
  const stored = yield* findEndpointsOf(imported);
  return new Set(imported.filter((id) => !stored.has(id)));
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

interface GivenLine {
  /** The line of the export. */
  readonly given: SubmissionLine;
  readonly endpoint: Endpoint;
}

/** A line with the id that its submission has here, and what is stored of it if it is new. */
interface PlacedLine extends GivenLine {
  readonly id: string;
  readonly values: ReturnType<typeof importedValues>;
}

function hasNewId({ id, given }: PlacedLine): boolean {
  return id !== given.id;
}

function namedBy({ id, endpoint }: PlacedLine) {
  return { id, workspaceId: endpoint.workspaceId };
}

/** @throws conflict */
async function placeLines(
  db: Database,
  lines: readonly GivenLine[],
  importedFrom: string | null,
): Promise<readonly PlacedLine[]> {
  const going = lines.map(({ given: { id, data }, endpoint: { workspaceId } }) => ({
    id,
    data,
    workspaceId,
  }));
  const ids = await placeIds(db, "submission", going);
  const datas = await placeFiles(db, going);
  return lines.map(({ given, endpoint }, index) => {
    const [id, data] = [ids[index] ?? given.id, datas[index] ?? given.data];
    const target = { endpointId: endpoint.id, schemaVersion: endpoint.schemaVersion, importedFrom };
    return { given, endpoint, id, values: importedValues(readLine({ ...given, id, data }, target)) };
  });
}

/** An import under way. */
interface Import {
  readonly importedFrom: "ndjson" | null;
  /** The endpoints whose import is already in the audit record. */
  readonly recorded: Set<string>;
  readonly total: number;
  readonly tally: FileTally;
}

/** What became of lines. */
interface Brought {
  readonly lines: readonly PlacedLine[];
  /** The number of new submissions. */
  readonly count: number;
  /** How many of them got another id. */
  readonly newIds: number;
  /** The ids of submissions that were deleted here. */
  readonly away: ReadonlySet<string>;
}

/** Adds lines. Returns also the endpoints that got some. The import of an endpoint is recorded with its first line. */
function* addRows(
  lines: readonly PlacedLine[],
  { importedFrom, recorded, total }: Import,
): Steps<Outcome<Brought & { readonly endpoints: readonly string[] }>> {
  const away = importedFrom === null ? new Set<string>() : yield* stayAway(lines, importedFrom, claimKnown);
  const [added, known]: [PlacedLine[], PlacedLine[]] = [[], []];
  for (const each of lines) {
    if (away.has(each.id)) continue;
    const isNew = (yield* run(text(ADD_IMPORTED_SQL, ...each.values))) > 0;
    if (isNew) yield* addImportedWork({ ...each.given, id: each.id });
    (isNew ? added : known).push(each);
  }
  yield* checkPlaced("submission", known.map(namedBy));
  const endpoints = [...new Map(added.map(({ endpoint }) => [endpoint.id, endpoint])).values()];
  const began = endpoints.filter(({ id }) => !recorded.has(id));
  const newIds = added.filter(hasNewId).length;
  return changed(
    { lines, away, count: added.length, newIds, endpoints: endpoints.map(({ id }) => id) },
    ...began.map((endpoint) => importBegan(endpoint, total)),
  );
}
