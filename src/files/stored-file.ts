import { LISTED_IDS } from "../database/list-parameter.ts";
import { randomBytes } from "node:crypto";
import type { FileFacts } from "../schemas/posted-file.ts";

/** A file that is to be stored, in chunks in the database or as an object. */
export interface NewFile extends FileFacts {
  readonly endpointId: string;
  readonly createdAt: number;
  /** Whether its post is held: then its bytes also count as files of held posts. */
  readonly isForHeld?: boolean;
  /** The id of its object in the object store; absent or null if its bytes go into the database. */
  readonly objectId?: string | null;
}

/** A new id for the object of a file. An object of an earlier file with the same id may still wait for its deletion. */
export function newObjectId(fileId: string): string {
  return `${fileId}-${randomBytes(8).toString("hex")}`;
}

/** One chunk that waits to be stored. The chunk at position 0 also stores the row of its file. */
export interface NewChunk {
  readonly file: NewFile;
  readonly position: number;
  readonly bytes: Buffer;
}

/** Runs inside the transaction of a batch. If the batch is sent again, the row is not stored twice. */
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

/**
 * Counts those of these files that have all their bytes. A file in the object store always has, because its object was stored before. The
 * parameter is a list of ids.
 */
export const COUNT_WHOLE_SQL = `SELECT count(*) FROM file WHERE id IN ${LISTED_IDS} AND state = 'storing'
  AND (object_id IS NOT NULL OR size = (SELECT coalesce(sum(length(bytes)), 0) FROM file_chunk WHERE file_id = file.id))`;

/** Attaches files to their submission, which is stored in the same transaction. The parameters are the submission and a list of ids. */
export const ATTACH_SQL = `UPDATE file SET submission_id = ?, state = 'stored'
  WHERE id IN ${LISTED_IDS}`;

/**
 * Attaches files to their held post, which is stored in the same transaction, unless it was held before. The parameters are the post, a
 * list of ids, and the post again.
 */
export const ATTACH_HELD_SQL = `UPDATE file SET held_id = ?, state = 'stored'
  WHERE id IN ${LISTED_IDS} AND state = 'storing' AND EXISTS (SELECT 1 FROM held WHERE id = ?)`;
