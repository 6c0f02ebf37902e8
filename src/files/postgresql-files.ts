import type { BatchStatement, BatchTransaction } from "../database/postgresql/batch-connection.ts";
import { numberMarks } from "../database/number-parameters.ts";
import { toParameter } from "../database/postgresql/to-parameter.ts";
import { fileValues, INSERT_CHUNK_SQL, INSERT_FILE_SQL, type NewChunk } from "./stored-file.ts";

/** The parameters are those of {@link INSERT_FILE_SQL}. */
const INSERT_FILE: BatchStatement = { name: "insert_file", text: numberMarks(INSERT_FILE_SQL) };

/** The parameters are those of {@link INSERT_CHUNK_SQL}. */
const INSERT_CHUNK: BatchStatement = { name: "insert_chunk", text: numberMarks(INSERT_CHUNK_SQL) };

/** Finds those of these files that have all their bytes and no submission yet. They cannot be deleted before the commit. */
const LOCK_WHOLE_FILES: BatchStatement = {
  name: "lock_whole_files",
  text: `SELECT id FROM file WHERE id = ANY($1::text[]) AND state = 'storing'
    AND (object_id IS NOT NULL OR size = (SELECT coalesce(sum(length(bytes)), 0) FROM file_chunk WHERE file_id = file.id))
    ORDER BY id FOR UPDATE OF file`,
};

/** The parameter is a JSON array of `{post_id, file_id}`. */
const ATTACH_FILES: BatchStatement = {
  name: "attach_files",
  text: `UPDATE file SET submission_id = post.post_id, state = 'stored'
    FROM json_to_recordset($1::json) AS post(post_id text, file_id text) WHERE file.id = post.file_id`,
};

/** The same for held posts. A post that was held before, by its Idempotency-Key, gets no files. */
const ATTACH_HELD_FILES: BatchStatement = {
  name: "attach_held_files",
  text: `UPDATE file SET held_id = post.post_id, state = 'stored'
    FROM json_to_recordset($1::json) AS post(post_id text, file_id text) JOIN held ON held.id = post.post_id
    WHERE file.id = post.file_id AND file.state = 'storing'`,
};

/** The files of a post in a batch, and until when they wait for the scanner, in milliseconds. */
interface OwnFiles {
  readonly fileIds?: readonly string[] | null;
  readonly waitsUntil?: number | null;
}

interface WithFiles extends OwnFiles {
  readonly submission: { readonly id: string };
}

interface HeldWithFiles extends OwnFiles {
  readonly held: { readonly id: string };
}

/** Makes stored files wait for the scanner. The parameter is a JSON array of `{file_id, wait_until}`. */
const AWAIT_SCANS: BatchStatement = {
  name: "await_scans",
  text: `INSERT INTO file_scan (file_id, state, wait_until, due_at)
    SELECT file.id, 'scanning', post.wait_until, 0
    FROM json_to_recordset($1::json) AS post(file_id text, wait_until bigint) JOIN file ON file.id = post.file_id
    WHERE file.state = 'stored' ON CONFLICT DO NOTHING`,
};

function awaitScans(transaction: BatchTransaction, posts: readonly OwnFiles[]): Promise<unknown>[] {
  const scans = posts.flatMap(({ fileIds, waitsUntil = null }) =>
    waitsUntil === null ? [] : (fileIds ?? []).map((id) => ({ file_id: id, wait_until: waitsUntil })),
  );
  return scans.length === 0 ? [] : [transaction.query(AWAIT_SCANS, JSON.stringify(scans))];
}

export function writeChunk(
  transaction: BatchTransaction,
  { file, position, bytes }: NewChunk,
): Promise<unknown>[] {
  const row = position === 0 ? [transaction.query(INSERT_FILE, ...fileValues(file).map(toParameter))] : [];
  return [...row, transaction.query(INSERT_CHUNK, file.id, position, bytes)];
}

/** Returns the files of these submissions that have all their bytes. They cannot be deleted before the commit. */
export async function lockWholeFiles(
  transaction: BatchTransaction,
  submissions: readonly WithFiles[],
): Promise<ReadonlySet<string>> {
  const ids = submissions.flatMap(({ fileIds }) => fileIds ?? []);
  if (ids.length === 0) return NONE;
  const rows = await transaction.query<{ id: string }>(LOCK_WHOLE_FILES, ids);
  return new Set(rows.map(({ id }) => id));
}

const NONE: ReadonlySet<string> = new Set();

/** Attaches files to their submissions, which are stored in the same transaction. */
export function attachFiles(
  transaction: BatchTransaction,
  submissions: readonly WithFiles[],
): Promise<unknown>[] {
  const posts = submissions.map(({ submission, ...files }) => ({ ...files, id: submission.id }));
  return attach(transaction, ATTACH_FILES, posts);
}

/** Attaches files to their held posts, which are stored in the same transaction. */
export function attachHeldFiles(
  transaction: BatchTransaction,
  posts: readonly HeldWithFiles[],
): Promise<unknown>[] {
  const held = posts.map(({ held: { id }, ...files }) => ({ ...files, id }));
  return attach(transaction, ATTACH_HELD_FILES, held);
}

function attach(
  transaction: BatchTransaction,
  statement: BatchStatement,
  posts: readonly (OwnFiles & { readonly id: string })[],
): Promise<unknown>[] {
  const attached = posts.flatMap(({ id, fileIds }) =>
    (fileIds ?? []).map((fileId) => ({ post_id: id, file_id: fileId })),
  );
  if (attached.length === 0) return [];
  return [transaction.query(statement, JSON.stringify(attached)), ...awaitScans(transaction, posts)];
}
