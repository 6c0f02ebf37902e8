import { LISTED } from "../database/list-parameter.ts";
import { randomBytes } from "node:crypto";
import type { FileFacts } from "../schemas/posted-file.ts";

/** A file whose bytes go into the database, a chunk at a time. */
export interface NewFile extends FileFacts {
  readonly endpointId: string;
  readonly createdAt: number;
  /** Whether its post is held: its bytes count for what a workspace holds. */
  readonly isForHeld?: boolean;
  /** Of its bytes in the object store; absent or null if they go into the database. */
  readonly objectId?: string | null;
}

/** A new name for the bytes of a file in the object store. Those of an earlier file with this id may wait to be deleted there. */
export function newObjectId(fileId: string): string {
  return `${fileId}-${randomBytes(8).toString("hex")}`;
}

/** One chunk that waits to be stored. That of position 0 brings the row of its file. */
export interface NewChunk {
  readonly file: NewFile;
  readonly position: number;
  readonly bytes: Buffer;
}

/** Inside the transaction of a batch. A batch that is sent again stores nothing twice. */
export const INSERT_FILE_SQL = `INSERT INTO file (id, endpoint_id, state, name, size, type, sha256, created_at, for_held, object_id)
  VALUES (?, ?, 'storing', ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`;

export function fileValues({
  id,
  endpointId,
  name,
  size,
  type,
  sha256,
  createdAt,
  isForHeld = false,
  objectId = null,
}: NewFile): readonly (string | number | null)[] {
  return [id, endpointId, name, size, type, sha256, createdAt, isForHeld ? 1 : 0, objectId];
}

export const INSERT_CHUNK_SQL = `INSERT INTO file_chunk (file_id, position, bytes) VALUES (?, ?, ?)
  ON CONFLICT DO NOTHING`;

/** How many of these files have all their bytes: an object was stored before anybody asks. The parameter is a list of ids. */
export const COUNT_WHOLE_SQL = `SELECT count(*) FROM file WHERE id IN ${LISTED} AND state = 'storing'
  AND (object_id IS NOT NULL OR size = (SELECT coalesce(sum(length(bytes)), 0) FROM file_chunk WHERE file_id = file.id))`;

/** Gives files to their submission, which is stored in the same transaction. The second parameter is a list of ids. */
export const ATTACH_SQL = `UPDATE file SET submission_id = ?, state = 'stored'
  WHERE id IN ${LISTED}`;

/**
 * Gives files to their held post, which is stored in the same transaction unless it is held already. The parameters are the post, a list
 * of ids, and the post.
 */
export const ATTACH_HELD_SQL = `UPDATE file SET held_id = ?, state = 'stored'
  WHERE id IN ${LISTED} AND state = 'storing' AND EXISTS (SELECT 1 FROM held WHERE id = ?)`;
