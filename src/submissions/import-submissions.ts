import { closeSync, openSync, readSync, statSync } from "node:fs";
import { z } from "zod";
import type { SqliteDatabase } from "../database/sqlite/sqlite-database.ts";
import { FormsvcError } from "../foundation/errors.ts";
import { isId } from "../foundation/id.ts";
import { canonicalAddress } from "../foundation/ip-address.ts";
import { describeFirstProblem } from "../foundation/problems.ts";
import type { SpamReason } from "../spam/spam-verdict.ts";
import { NUMBER_OF_ENDPOINT } from "./endpoint-number.ts";
import { findUnfit } from "./parse-body.ts";
import { MAX_USER_AGENT_LENGTH } from "./submission.ts";

export interface Imported {
  readonly added: number;
  /** Were there already, by their id, and were left as they are. */
  readonly known: number;
}

/** Longest line; a post is at most 10 MiB and grows by escapes. */
const MAX_LINE_BYTES = 67_108_864;
const READ_BYTES = 65_536;
/** Submissions in one transaction: a server that writes meanwhile waits no longer than for these. */
const BATCH_SIZE = 500;

/** As in posts: what nests deeper than 1000 levels would break each search and export of the database. */
const data = z.record(z.string(), z.unknown()).superRefine((value, context) => {
  const unfit = findUnfit(value);
  if (unfit !== undefined) context.addIssue(unfit);
});

const reason: z.ZodType<SpamReason> = z.strictObject({
  signal: z.string().min(1),
  points: z.int(),
  field: z.string().nullable(),
  detail: z.string(),
});

const line = z.object({
  id: z.string().refine((id) => isId("sub", id), "expected a submission's id"),
  endpoint_id: z.string().refine((id) => isId("ep", id), "expected an endpoint's id"),
  data,
  spam_score: z.int().min(0).max(100),
  spam_reasons: z.array(reason),
  // Exports of before there were versions have none.
  spam_version: z.int().min(1).default(1),
  ip_address: z
    .string()
    .refine((text) => text === "" || canonicalAddress(text) !== null, "expected an IP address"),
  user_agent: z.string().max(MAX_USER_AGENT_LENGTH),
  created_at: z.iso.datetime({ precision: 3 }),
});

type Line = z.infer<typeof line>;

/** Where a submission goes: the endpoint and the version of its schema. */
export interface ImportTarget {
  readonly endpointId: string;
  readonly schemaVersion: number;
}

export interface ImportPlan {
  /** The target for an endpoint id of the file. @throws not_found */
  readonly targetOf: (endpointId: string) => ImportTarget;
  readonly onProgress: (count: number) => void;
  /** Between two transactions, for others to write. */
  readonly pause: () => Promise<void>;
}

/**
 * Stores the submissions of an export in NDJSON with their ids and times. The whole file is checked before anything is
 * stored, and what is there already is skipped, so that an import that was cut off can be run again. Nothing is
 * counted towards a plan, and no webhook is told.
 *
 * @throws usage naming the line that is wrong; not_found when an endpoint is unknown.
 */
export async function importSubmissions(
  db: SqliteDatabase,
  file: string,
  plan: ImportPlan,
): Promise<Imported> {
  for (const each of readExport(file)) plan.targetOf(each.endpoint_id);
  const insert = db.prepare(
    `INSERT INTO submission
       (id, endpoint_number, schema_version, data, spam_score, spam_reasons, spam_version, ip_address, user_agent,
        created_at)
     VALUES (?, ${NUMBER_OF_ENDPOINT}, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`,
  );
  let added = 0;
  let seen = 0;
  let batch: Line[] = [];
  const store = async (): Promise<void> => {
    added += db.transactionNow(() =>
      batch.reduce(
        (sum, each) => sum + insert.run(...toColumns(each, plan.targetOf(each.endpoint_id))).changes,
        0,
      ),
    );
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

function toColumns(each: Line, target: ImportTarget): (string | number)[] {
  return [
    each.id,
    target.endpointId,
    target.schemaVersion,
    JSON.stringify(each.data),
    each.spam_score,
    JSON.stringify(each.spam_reasons),
    each.spam_version,
    each.ip_address,
    each.user_agent,
    Date.parse(each.created_at),
  ];
}

function* readExport(file: string): Generator<Line> {
  let number = 0;
  for (const text of readLines(file)) {
    number += 1;
    if (text.trim() === "") continue;
    let content: unknown;
    try {
      content = JSON.parse(text);
    } catch (error) {
      throw new FormsvcError(
        "usage",
        `${file}: line ${number}: not JSON (${(error as Error).message}); import takes what export --format ndjson writes`,
        { cause: error },
      );
    }
    const parsed = line.safeParse(content);
    if (!parsed.success) {
      const problem = describeFirstProblem(parsed.error);
      throw new FormsvcError("usage", `${file}: line ${number}: ${problem}`);
    }
    yield parsed.data;
  }
}

/** A pipe is empty when it is read again: nothing would be imported, without a word. */
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
