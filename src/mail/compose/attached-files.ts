import type { Database } from "../../database/database.ts";
import type { Steps } from "../../database/steps.ts";
import { listFilesOf, readBytes } from "../../files/read-file.ts";
import { FormsvcError } from "../../foundation/errors.ts";
import { type EncodedFile, encodeBase64 } from "./mail-attachment.ts";

/** The files of one e-mail must have fewer bytes than this. Base64 makes them a third larger, which mail servers accept. */
const MAX_ATTACHED_BYTES = 5_000_000;

/** The files that an e-mail brings. They are chosen before its first attempt. */
export interface Attached {
  readonly ids: readonly string[];
  /** Whether some files of the submission had no room. */
  readonly hasMore: boolean;
}

/** Chooses the files of a submission in their order, as long as they fit. */
export function* chooseAttached(submissionId: string): Steps<Attached> {
  const ids: string[] = [];
  let bytes = 0;
  const files = yield* listFilesOf(submissionId);
  for (const { id, size } of files) {
    if (bytes + size >= MAX_ATTACHED_BYTES) continue;
    bytes += size;
    ids.push(id);
  }
  return { ids, hasMore: ids.length < files.length };
}

/**
 * Reads and encodes the chosen files that still exist: an erased file is not sent any more.
 *
 * @throws FormsvcError if the database is busy, or the file store cannot be reached.
 */
export async function readAttached(
  db: Database,
  submissionId: string,
  { ids }: Attached,
): Promise<EncodedFile[]> {
  if (ids.length === 0) return [];
  const found = (await db.read(() => listFilesOf(submissionId))).filter(({ id }) => ids.includes(id));
  const encoded: EncodedFile[] = [];
  for (const { id, name, type, size } of found) {
    const lines = await readLines(db, id, size);
    if (lines !== null) encoded.push({ name, type, lines });
  }
  return encoded;
}

/** Null if the file was deleted meanwhile, or if the file store has lost it, so that another attempt would not find it either. */
async function readLines(db: Database, id: string, size: number): Promise<Buffer | null> {
  try {
    return await encodeBase64(readBytes(db, id, { first: 0, last: size - 1 }));
  } catch (error) {
    if (error instanceof FormsvcError && error.code !== "gone") throw error;
    return null;
  }
}
