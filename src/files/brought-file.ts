import { query } from "../database/database.ts";
import { first, run, type Steps, text } from "../database/steps.ts";
import { fileValues, INSERT_CHUNK_SQL, INSERT_FILE_SQL, type NewFile } from "./stored-file.ts";

/*
 * Files that an import adds, without a post. Each chunk is stored in a short transaction of its own, and the last transaction attaches the
 * file to its submission.
 */

/** Returns `nobody` if there is no such file or it belongs to nothing; else its submission, or null for a file of a held post. */
export function* findOwner(id: string): Steps<"nobody" | { readonly submissionId: string | null }> {
  const row = yield* first(
    query.selectFrom("file").select(["submission_id", "held_id"]).where("id", "=", id),
  );
  if (row === undefined || (row.submission_id === null && row.held_id === null)) return "nobody";
  return { submissionId: row.submission_id };
}

/** Whether there is a file with this id that has not these bytes in this form: somebody else is storing it. */
export function* isOfOthers({ id, endpointId, sha256 }: Pick<NewFile, "id" | "endpointId" | "sha256">) {
  const row = yield* first(query.selectFrom("file").select(["endpoint_id", "sha256"]).where("id", "=", id));
  return row !== undefined && (row.endpoint_id !== endpointId || row.sha256 !== sha256);
}

/** Stores a chunk. The chunk at position 0 also stores the row of the file. */
export function* storeChunk(file: NewFile, position: number, bytes: Buffer): Steps<void> {
  if (position === 0) yield* run(text(INSERT_FILE_SQL, ...fileValues(file)));
  yield* run(text(INSERT_CHUNK_SQL, file.id, position, bytes));
}

/** Stores the row of a file whose bytes go into the object store. */
export function* noteFile(file: NewFile): Steps<void> {
  yield* run(text(INSERT_FILE_SQL, ...fileValues(file)));
}

/** Attaches a file to a submission. Returns false if some of its bytes are missing. */
export function* giveFile(id: string, submissionId: string): Steps<boolean> {
  const whole = yield* first(text<{ readonly files: number }>(IS_WHOLE_SQL, id));
  if (whole?.files !== 1) return false;
  const given = { submission_id: submissionId, state: "stored" } as const;
  yield* run(query.updateTable("file").set(given).where("id", "=", id));
  return true;
}

const IS_WHOLE_SQL = `SELECT count(*) AS files FROM file WHERE id = ? AND state = 'storing'
  AND (object_id IS NOT NULL OR size = (SELECT coalesce(sum(length(bytes)), 0) FROM file_chunk WHERE file_id = file.id))`;
