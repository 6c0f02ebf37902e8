import { Readable } from "node:stream";
import { sql } from "kysely";
import { type Database, query } from "../database/database.ts";
import { all, first, type Steps, textByEngine } from "../database/steps.ts";
import { LIST, listParameter } from "../database/list-parameter.ts";
import { FormsvcError } from "../foundation/errors.ts";
import { isId } from "../foundation/id.ts";
import type { FileFacts } from "../schemas/posted-file.ts";
import { CHUNK_BYTES } from "./byte-source.ts";
import { type ByteRange, objectsOf } from "./object-store.ts";
import { refuseUnscanned } from "./scan-store.ts";

export type { ByteRange } from "./object-store.ts";

const FACTS = ["id", "name", "size", "type", "sha256"] as const;

/** Finds a file of this submission; undefined if it has no such file. */
export function* findFileOf(submissionId: string, id: string): Steps<FileFacts | undefined> {
  if (!isId("fil", id)) return undefined;
  return yield* first(
    query.selectFrom("file").select(FACTS).where("id", "=", id).where("submission_id", "=", submissionId),
  );
}

/**
 * @throws gone if this database is a backup without the bytes of files; conflict while the file is being scanned; forbidden if it could not
 * be scanned and `files.whenUnscanned` forbids to open it
 */
export function* refuseUnreadable(id: string): Steps<void> {
  yield* refuseUnscanned(id);
  const rows = query.selectFrom("file").select("id").where("id", "=", id).where("is_left_out", "=", 1);
  if ((yield* first(rows)) !== undefined)
    throw new FormsvcError(
      "gone",
      "the bytes of this file are not in this backup: it was made without files",
    );
}

/** The files of a submission that may be read, in the order in which they came. */
export function listFilesOf(submissionId: string): Steps<FileFacts[]> {
  const rows = query.selectFrom("file").select(FACTS).where("submission_id", "=", submissionId);
  return all(rows.where("is_left_out", "=", 0).where(isReadable).orderBy("id"));
}

/** A condition: the scanner does not forbid to read the file. */
const isReadable = sql<boolean>`NOT EXISTS (
  SELECT 1 FROM file_scan WHERE file_scan.file_id = file.id AND file_scan.state <> 'kept')`;

/** A file with the submission and endpoint that it belongs to. */
export interface FoundFile extends FileFacts {
  readonly submissionId: string;
  readonly endpointId: string;
  readonly createdAt: number;
}

/** The files to list; null does not restrict. */
export interface FilesWanted {
  readonly endpointIds: readonly string[] | null;
  readonly submissionId: string | null;
  /** Only files with a lower id than this. */
  readonly before: string | null;
  readonly limit: number;
}

/** Finds a file that belongs to a submission. */
export function* findFile(id: string): Steps<FoundFile | undefined> {
  if (!isId("fil", id)) return undefined;
  return (yield* all(selectFound().where("id", "=", id))).map(toFound)[0];
}

/** Finds by an index at most the wanted number of files for each endpoint, because an account may have hundreds of thousands. */
const OF_ONE_SQL = `SELECT id FROM file
  WHERE endpoint_id = wanted.key AND id < ? AND submission_id IS NOT NULL ORDER BY id DESC LIMIT ?`;
const OF_ENDPOINTS_SQL = {
  sqlite: `SELECT found.id FROM ${LIST} AS wanted CROSS JOIN file AS found
    WHERE found.id IN (${OF_ONE_SQL}) ORDER BY found.id DESC LIMIT ?`,
  postgresql: `SELECT found.id FROM ${LIST} AS wanted CROSS JOIN LATERAL (${OF_ONE_SQL}) AS found
    ORDER BY found.id DESC LIMIT ?`,
};
/** A text that is greater than every id. */
const LAST_ID = "fil_~";

/** Lists files of submissions, newest first. */
export function* listFiles({ endpointIds, submissionId, before, limit }: FilesWanted): Steps<FoundFile[]> {
  let rows = selectFound().orderBy("id", "desc").limit(limit);
  if (submissionId !== null) rows = rows.where("submission_id", "=", submissionId);
  else if (endpointIds !== null) {
    const wanted = [listParameter(endpointIds), before ?? LAST_ID, limit, limit];
    const found = yield* all(textByEngine<{ id: string }>(OF_ENDPOINTS_SQL, ...wanted));
    if (found.length === 0) return [];
    const ids = found.map(({ id }) => id);
    rows = rows.where("id", "in", ids);
  }
  if (before !== null) rows = rows.where("id", "<", before);
  return (yield* all(rows)).map(toFound);
}

function selectFound() {
  return query
    .selectFrom("file")
    .select([...FACTS, "submission_id", "endpoint_id", "created_at"])
    .where("submission_id", "is not", null);
}

interface FoundRow extends FileFacts {
  readonly submission_id: string | null;
  readonly endpoint_id: string;
  readonly created_at: number;
}

function toFound({ submission_id, endpoint_id, created_at, ...facts }: FoundRow): FoundFile {
  return { ...facts, submissionId: submission_id ?? "", endpointId: endpoint_id, createdAt: created_at };
}

/** A readable file of a submission or a held post. */
export interface KeptFile {
  readonly id: string;
  /** Null if the file belongs to a held post. */
  readonly submissionId: string | null;
  readonly size: number;
}

/** Lists the readable files of an endpoint, oldest first. @param after an id; empty begins with the first file */
export function* listKeptFiles(endpointId: string, after: string, limit: number): Steps<KeptFile[]> {
  const rows = selectKept().where("endpoint_id", "=", endpointId).where("id", ">", after);
  return yield* all(rows.orderBy("id").limit(limit));
}

/** Whether a file is readable, and belongs to a submission or a held post. */
export function* isKept(id: string): Steps<boolean> {
  return (yield* first(selectKept().where("id", "=", id))) !== undefined;
}

function selectKept() {
  return query
    .selectFrom("file")
    .select(["id", "submission_id as submissionId", "size"])
    .where("is_left_out", "=", 0)
    .where(isReadable)
    .where((has) => has.or([has("submission_id", "is not", null), has("held_id", "is not", null)]));
}

/** The largest number of bytes that a stream holds: the chunk that is being read, and the one that was read ahead. */
export const READ_AHEAD_BYTES = 2 * CHUNK_BYTES;

/** A stream, with the largest number of bytes that it holds. */
export interface FileStream extends Readable {
  readonly heldBytes: number;
}

/** Streams the bytes of a file chunk by chunk, from the database or the object store. The stream fails if the file is deleted meanwhile. */
export function readBytes(db: Database, id: string, range: ByteRange): FileStream {
  const stream = Readable.from(bytesOf(db, id, range), { objectMode: false, highWaterMark: CHUNK_BYTES });
  return Object.assign(stream, { heldBytes: READ_AHEAD_BYTES });
}

async function* bytesOf(db: Database, id: string, range: ByteRange): AsyncGenerator<Buffer> {
  const rows = query.selectFrom("file").select(["object_id", "size", "sha256"]).where("id", "=", id);
  const row = await db.read(() => first(rows));
  if (typeof row?.object_id === "string")
    yield* (objectsOf(db) ?? refuseStore(id)).read(row.object_id, range, row);
  else yield* chunks(db, id, range);
}

function refuseStore(id: string): never {
  throw new FormsvcError(
    "unavailable",
    `the file ${id} is in a store of files that the configuration does not name (files.s3)`,
  );
}

async function* chunks(db: Database, id: string, { first: from, last }: ByteRange): AsyncGenerator<Buffer> {
  for (let position = Math.floor(from / CHUNK_BYTES); position * CHUNK_BYTES <= last; position += 1) {
    const start = position * CHUNK_BYTES;
    const bytes = await db.read(() => readChunk(id, position));
    if (bytes === undefined) throw new Error(`the file ${id} was deleted while it was read`);
    yield bytes.subarray(Math.max(0, from - start), last - start + 1);
  }
}

function* readChunk(id: string, position: number): Steps<Buffer | undefined> {
  const row = yield* first(
    query.selectFrom("file_chunk").select("bytes").where("file_id", "=", id).where("position", "=", position),
  );
  return row?.bytes;
}
