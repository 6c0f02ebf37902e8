import type { FileFacts } from "../schemas/posted-file.ts";

/** A file whose bytes go into the database, a chunk at a time. */
export interface NewFile extends FileFacts {
  readonly endpointId: string;
  readonly createdAt: number;
  /** Whether its post is held: its bytes count for what a workspace holds. */
  readonly isForHeld?: boolean;
}

/** One chunk that waits to be stored. That of position 0 brings the row of its file. */
export interface NewChunk {
  readonly file: NewFile;
  readonly position: number;
  readonly bytes: Buffer;
}

/** Inside the transaction of a batch. A batch that is sent again stores nothing twice. */
export const INSERT_FILE_SQL = `INSERT INTO file (id, endpoint_id, state, name, size, type, sha256, created_at, for_held)
  VALUES (?, ?, 'storing', ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`;

export function fileValues({
  id,
  endpointId,
  name,
  size,
  type,
  sha256,
  createdAt,
  isForHeld = false,
}: NewFile): readonly (string | number)[] {
  return [id, endpointId, name, size, type, sha256, createdAt, isForHeld ? 1 : 0];
}

export const INSERT_CHUNK_SQL = `INSERT INTO file_chunk (file_id, position, bytes) VALUES (?, ?, ?)
  ON CONFLICT DO NOTHING`;

/** How many of these files have all their chunks. The parameter is a JSON array of ids. */
export const COUNT_WHOLE_SQL = `SELECT count(*) FROM file WHERE id IN (SELECT value FROM json_each(?)) AND state = 'storing'
  AND size = (SELECT coalesce(sum(length(bytes)), 0) FROM file_chunk WHERE file_id = file.id)`;

/** Gives files to their submission, which is stored in the same transaction. The second parameter is a JSON array of ids. */
export const ATTACH_SQL = `UPDATE file SET submission_id = ?, state = 'stored'
  WHERE id IN (SELECT value FROM json_each(?))`;

/**
 * Gives files to their held post, which is stored in the same transaction unless it is held already. The parameters are the post, a JSON
 * array of ids, and the post.
 */
export const ATTACH_HELD_SQL = `UPDATE file SET held_id = ?, state = 'stored'
  WHERE id IN (SELECT value FROM json_each(?)) AND state = 'storing' AND EXISTS (SELECT 1 FROM held WHERE id = ?)`;
