import { query } from "../database/database.ts";
import { first, run, type Steps, text } from "../database/steps.ts";
import { fileValues, INSERT_CHUNK_SQL, INSERT_FILE_SQL, type NewFile } from "./stored-file.ts";

/*
 * A file that an import brings, and no post. Its chunks have short transactions of their own, and the last one gives it to its submission.
 */

/** Whether nobody has this file: there is none, or it belongs to nothing. Else the submission that has it; null for a held post. */
export function* findOwner(id: string): Steps<"nobody" | { readonly submissionId: string | null }> {
  const row = yield* first(
    query.selectFrom("file").select(["submission_id", "held_id"]).where("id", "=", id),
  );
  if (row === undefined || (row.submission_id === null && row.held_id === null)) return "nobody";
  return { submissionId: row.submission_id };
}

/** Stores a chunk; that of position 0 brings the row of its file. */
export function* storeChunk(file: NewFile, position: number, bytes: Buffer): Steps<void> {
  if (position === 0) yield* run(text(INSERT_FILE_SQL, ...fileValues(file)));
  yield* run(text(INSERT_CHUNK_SQL, file.id, position, bytes));
}

/** Writes down a file whose bytes go into the object store. */
export function* noteFile(file: NewFile): Steps<void> {
  yield* run(text(INSERT_FILE_SQL, ...fileValues(file)));
}

/** Gives a file to a submission. Returns false if it has not all its bytes. */
export function* giveFile(id: string, submissionId: string): Steps<boolean> {
  const whole = yield* first(text<{ readonly files: number }>(IS_WHOLE_SQL, id));
  if (whole?.files !== 1) return false;
  const given = { submission_id: submissionId, state: "stored" } as const;
  yield* run(query.updateTable("file").set(given).where("id", "=", id));
  return true;
}

const IS_WHOLE_SQL = `SELECT count(*) AS files FROM file WHERE id = ? AND state = 'storing'
  AND (object_id IS NOT NULL OR size = (SELECT coalesce(sum(length(bytes)), 0) FROM file_chunk WHERE file_id = file.id))`;
