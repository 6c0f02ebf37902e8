import { closeSync, openSync, readSync, statSync } from "node:fs";
import type { Database } from "../database/database.ts";
import { run, type Steps, text } from "../database/steps.ts";
import type { Endpoint } from "../endpoints/endpoint.ts";
import { findEndpoint, getEndpoint } from "../endpoints/endpoint-store.ts";
import { FormsvcError } from "../foundation/errors.ts";
import { describeFirstProblem } from "../foundation/problems.ts";
import { type ImportTarget, readLine, type SubmissionLine, submissionLine } from "./submission-json.ts";
import { INSERT_SUBMISSION_SQL, submissionValues } from "./submission-store.ts";

export interface Imported {
  readonly added: number;
  /** Submissions whose id exists already; they are not changed. */
  readonly known: number;
}

/** Longest line; a post is at most 10 MiB and grows by escapes. */
const MAX_LINE_BYTES = 67_108_864;
const READ_BYTES = 65_536;
/** Submissions in one transaction: a server that writes meanwhile waits for this many at most. */
const BATCH_SIZE = 500;

export interface ImportPlan {
  /** The endpoint that all go to, by its id or name; null is the endpoint that each names. */
  readonly endpoint: string | null;
  readonly onProgress: (count: number) => void;
  /** A pause between two transactions, for others to write. */
  readonly pause: () => Promise<void>;
}

/**
 * Stores the submissions of an export in NDJSON with their ids and times. The whole file is checked before anything is stored.
 * Existing submissions are skipped, so that an interrupted import can be run again. Nothing counts towards a plan, and no
 * webhook gets them.
 *
 * @throws usage naming the line that is wrong; not_found when an endpoint is unknown.
 */
export async function importSubmissions(db: Database, file: string, plan: ImportPlan): Promise<Imported> {
  const targetOf = await chooseTargets(db, plan.endpoint);
  for (const each of readExport(file)) await targetOf(each.endpoint_id);
  let added = 0;
  let seen = 0;
  let batch: SubmissionLine[] = [];
  const store = async (): Promise<void> => {
    const values: ReturnType<typeof submissionValues>[] = [];
    for (const each of batch)
      values.push(submissionValues(readLine(each, await targetOf(each.endpoint_id)), null));
    added += await db.transaction(() => addAll(values));
    seen += batch.length;
    batch = [];
    plan.onProgress(seen);
    await plan.pause();
  };
  for (const each of readExport(file)) {
    batch.push(each);
    if (batch.length >= BATCH_SIZE) await store();
  }
  if (batch.length > 0) await store();
  return { added, known: seen - added };
}

const ADD_SQL = `${INSERT_SUBMISSION_SQL} ON CONFLICT (id) DO NOTHING`;

/** Returns how many were not there. */
function* addAll(values: readonly ReturnType<typeof submissionValues>[]): Steps<number> {
  let added = 0;
  for (const each of values) added += yield* run(text(ADD_SQL, ...each));
  return added;
}

/** The target for an endpoint id of the file; each is looked up once. */
async function chooseTargets(
  db: Database,
  reference: string | null,
): Promise<(endpointId: string) => Promise<ImportTarget>> {
  const named = reference === null ? undefined : await db.read(() => getEndpoint(reference));
  const known = new Map<string, Endpoint | undefined>();
  return async (endpointId) => {
    if (!known.has(endpointId))
      known.set(endpointId, named ?? (await db.read(() => findEndpoint(endpointId))));
    const endpoint = known.get(endpointId);
    if (endpoint !== undefined) return { endpointId: endpoint.id, schemaVersion: endpoint.schemaVersion };
    throw new FormsvcError("not_found", `there is no endpoint ${endpointId} here`, {
      hint: { kind: "choose_endpoint" },
    });
  };
}

function* readExport(file: string): Generator<SubmissionLine> {
  let number = 0;
  for (const text of readLines(file)) {
    number += 1;
    if (text.trim() === "") continue;
    let content: unknown;
    try {
      content = JSON.parse(text);
    } catch (error) {
      throw new FormsvcError("usage", `${file}: line ${number}: not JSON (${(error as Error).message})`, {
        cause: error,
        hint: { kind: "export_as_ndjson" },
      });
    }
    const parsed = submissionLine.safeParse(content);
    if (!parsed.success) {
      const problem = describeFirstProblem(parsed.error);
      throw new FormsvcError("usage", `${file}: line ${number}: ${problem}`);
    }
    yield parsed.data;
  }
}

/** A pipe is empty when it is read again: nothing would be imported, and nobody would notice. */
function readOnceOnly(what: string): FormsvcError {
  const why = "the file is read twice, to check all of it before anything is stored; save it first";
  return new FormsvcError("usage", `${what} cannot be imported: ${why}`);
}

/** The lines of a file, in constant memory. @throws usage */
function* readLines(file: string): Generator<string> {
  if (file === "-") throw readOnceOnly("standard input");
  let fd: number;
  try {
    const found = statSync(file);
    if (found.isDirectory()) throw new FormsvcError("usage", `${file}: this is a folder; name a file in it`);
    if (!found.isFile()) throw readOnceOnly(file);
    fd = openSync(file, "r");
  } catch (error) {
    if (error instanceof FormsvcError) throw error;
    throw new FormsvcError("usage", `${file}: cannot be read (${(error as Error).message})`, {
      cause: error,
    });
  }
  try {
    let rest = Buffer.alloc(0);
    const part = Buffer.alloc(READ_BYTES);
    for (let read = readSync(fd, part); read > 0; read = readSync(fd, part)) {
      let begun = 0;
      for (let end = part.indexOf(10); end !== -1 && end < read; end = part.indexOf(10, begun)) {
        yield Buffer.concat([rest, part.subarray(begun, end)]).toString("utf8");
        rest = Buffer.alloc(0);
        begun = end + 1;
      }
      rest = Buffer.concat([rest, part.subarray(begun, read)]);
      if (rest.length > MAX_LINE_BYTES) throw new FormsvcError("usage", `${file}: a line is too long`);
    }
    if (rest.length > 0) yield rest.toString("utf8");
  } finally {
    closeSync(fd);
  }
}
