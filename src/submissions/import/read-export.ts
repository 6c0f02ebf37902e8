import { z } from "zod";
import { yieldToOthers } from "../../database/slices.ts";
import type { Steps } from "../../database/steps.ts";
import type { Endpoint } from "../../endpoints/endpoint.ts";
import { findReachableEndpoint, reachEndpoint } from "../../endpoints/endpoint-store.ts";
import { FormsvcError } from "../../foundation/errors.ts";
import { jsonFault } from "../../foundation/json-fault.ts";
import { describeFirstProblem } from "../../foundation/problems.ts";
import type { Context } from "../../operations/operation.ts";
import { reachWorkspace } from "../../workspaces/reach.ts";
import type { Workspace } from "../../workspaces/workspace.ts";
import { lineAheadOfClock } from "./ahead-of-clock.ts";
import { exportLinesOf, type ImportedFile, tooManyMembers } from "./imported-file.ts";
import { hasMoreMembers } from "./json-pieces.ts";

/** The largest number of posts in one transaction; a server that writes at the same time waits for it. */
const BATCH_SIZE = 500;
/** The largest length of all lines in one transaction, in UTF-16 units. */
const BATCH_LENGTH = 1_048_576;
/** The length of the lines that are read before posts get a turn. A line with many small objects takes some ten milliseconds. */
const READ_LENGTH = 262_144;

/** The endpoint that a post belonged to when it was exported. */
export interface Home {
  readonly endpoint_id: string;
  /** Only in the archive of a workspace, because its forms may get new ids elsewhere. */
  readonly endpoint_name?: string | undefined;
}

/** The inputs of an import of an export, besides the export itself. */
export const importInput = {
  endpoint: z
    .string()
    .nullable()
    .default(null)
    .describe(
      "The endpoint that gets all of them: its id, its name if that is unique, or WORKSPACE/NAME. Null is the endpoint whose id each of them names.",
    ),
  workspace: z
    .string()
    .nullable()
    .default(null)
    .describe(
      "Id or name of the workspace of that endpoint. Without an endpoint, each goes to the endpoint of this workspace with its endpoint_id, or else with its endpoint_name.",
    ),
  dry_run: z
    .boolean()
    .default(false)
    .describe("Whether nothing is stored, and the answer only says what would be done."),
};

/** Returns a function that finds the endpoint for a post of the export. Each endpoint is looked up once. */
export async function chooseTargets(
  context: Context,
  { endpoint: reference, workspace }: { readonly endpoint: string | null; readonly workspace: string | null },
): Promise<(home: Home) => Promise<Endpoint>> {
  const { db } = context;
  const named =
    reference === null
      ? undefined
      : await db.read(() => reachEndpoint(context, { endpoint: reference, workspace }));
  const within = workspace === null ? null : await db.read(() => reachWorkspace(context, workspace));
  const known = new Map<string, Endpoint>();
  return async (home) => {
    if (named !== undefined) return named;
    const key = JSON.stringify([home.endpoint_id, home.endpoint_name]);
    const endpoint = known.get(key) ?? (await db.read(() => findHome(context, home, within)));
    known.set(key, endpoint);
    return endpoint;
  };
}

/**
 * Finds the endpoint that a submission belonged to. @param within a workspace in which an endpoint of the same name will do; null if none
 * @throws not_found, usage
 */
function* findHome(context: Context, home: Home, within: Workspace | null): Steps<Endpoint> {
  const { endpoint_id: id, endpoint_name: name } = home;
  const same = yield* findReachableEndpoint(context, id);
  if (same !== undefined && (within === null || same.workspaceId === within.id)) return same;
  if (within !== null && name !== undefined)
    return yield* reachEndpoint(context, { endpoint: name, workspace: within.id });
  const where = within === null ? "here" : `in ${within.name}, and its submissions do not name it`;
  throw new FormsvcError("not_found", `there is no endpoint ${id} ${where}`, {
    hint: { kind: "choose_endpoint" },
  });
}

interface ReadLine<Content> {
  readonly content: Content;
  /** The length of the line in UTF-16 units. */
  readonly length: number;
}

/** Checks all lines, and that the endpoint of each exists. Returns the number of lines. */
export async function countLines<Line extends Home>(
  lines: AsyncIterable<ReadLine<Line>>,
  targetOf: (home: Home) => Promise<Endpoint>,
): Promise<number> {
  let total = 0;
  for await (const { content } of lines) {
    await targetOf(content);
    total += 1;
    if (total % BATCH_SIZE === 0) await yieldToOthers();
  }
  return total;
}

export async function* batchesOf<Line>(
  lines: AsyncIterable<ReadLine<Line>>,
): AsyncGenerator<readonly Line[]> {
  let batch: Line[] = [];
  let batchLength = 0;
  for await (const { content, length } of lines) {
    batch.push(content);
    batchLength += length;
    if (batch.length < BATCH_SIZE && batchLength < BATCH_LENGTH) continue;
    yield batch;
    [batch, batchLength] = [[], 0];
  }
  if (batch.length > 0) yield batch;
}

/** What each line of an export has. */
type LineShape = z.ZodType<{ readonly id: string; readonly created_at: string }>;

/** Reads an export line by line. @param shape the shape of a line. @throws usage */
export async function* readExport<Shape extends LineShape>(
  file: ImportedFile,
  shape: Shape,
  now: number,
): AsyncGenerator<ReadLine<z.output<Shape>>> {
  let length = 0;
  for await (const { text: line, number } of exportLinesOf(file)) {
    if (line.trim() === "") continue;
    length += line.length;
    if (length > READ_LENGTH) {
      await yieldToOthers();
      length = 0;
    }
    const position = `${file.name}: line ${number}`;
    if (hasMoreMembers(line, file.mostMembers))
      throw new FormsvcError("usage", tooManyMembers(position, file.mostMembers));
    const content = parseLine(line, shape, position);
    const ahead = lineAheadOfClock(content, now);
    if (ahead !== null) throw new FormsvcError("usage", `${position}: ${ahead}`);
    yield { content, length: line.length };
  }
}

/** @throws usage */
function parseLine<Shape extends z.ZodType>(line: string, shape: Shape, position: string): z.output<Shape> {
  let content: unknown;
  try {
    content = JSON.parse(line);
  } catch (error) {
    const { column, reason } = jsonFault(line, error);
    throw new FormsvcError("usage", `${position}: not JSON (column ${column}: ${reason})`, {
      hint: { kind: "export_as_ndjson" },
    });
  }
  const parsed = shape.safeParse(content);
  if (parsed.success) return parsed.data;
  throw new FormsvcError("usage", `${position}: ${describeFirstProblem(parsed.error)}`);
}
