import { Readable } from "node:stream";
import { type Database, query } from "../database/database.ts";
import { all, first, type Steps } from "../database/steps.ts";
import { isId } from "../foundation/id.ts";
import type { FileFacts } from "../schemas/posted-file.ts";
import { CHUNK_BYTES } from "./byte-source.ts";

const FACTS = ["id", "name", "size", "type", "sha256"] as const;

/** A file of this submission, if all its bytes are there. */
export function* findFileOf(submissionId: string, id: string): Steps<FileFacts | undefined> {
  if (!isId("fil", id)) return undefined;
  return yield* first(
    query.selectFrom("file").select(FACTS).where("id", "=", id).where("submission_id", "=", submissionId),
  );
}

/** The files of a submission that are there, in the order in which they came. */
export function listFilesOf(submissionId: string): Steps<FileFacts[]> {
  return all(query.selectFrom("file").select(FACTS).where("submission_id", "=", submissionId).orderBy("id"));
}

/** Positions of the first and the last byte. */
export interface ByteRange {
  readonly first: number;
  readonly last: number;
}

/** Bytes that a stream holds at most: the chunk that is taken, and the one that was read ahead. */
const READ_AHEAD_BYTES = 2 * CHUNK_BYTES;

/** A stream that says how many bytes it holds at most. */
export interface FileStream extends Readable {
  readonly heldBytes: number;
}

/** The bytes of a file, a chunk at a time. The stream fails if the file is deleted meanwhile. */
export function readBytes(db: Database, id: string, range: ByteRange): FileStream {
  const stream = Readable.from(chunks(db, id, range), { objectMode: false, highWaterMark: CHUNK_BYTES });
  return Object.assign(stream, { heldBytes: READ_AHEAD_BYTES });
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
