import type { Database } from "../database/database.ts";
import type { Steps } from "../database/steps.ts";
import { listFilesOf, readBytes } from "../files/read-file.ts";
import { FormsvcError } from "../foundation/errors.ts";
import { type EncodedFile, encodeBase64 } from "./mail-attachment.ts";

/** Bytes of the files of one e-mail, which has fewer. In base64 they take a third more, which mail servers take. */
const MAX_ATTACHED_BYTES = 5_000_000;

/** Which files an e-mail brings, chosen before its first attempt. */
export interface Attached {
  readonly ids: readonly string[];
  /** Whether some had no room. */
  readonly hasMore: boolean;
}

/** The files of a submission in their order, as far as they fit. */
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
 * The chosen files that are still there, encoded; who erased one has it sent to nobody.
 *
 * @throws FormsvcError if the database is busy, or the store of files is away
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

/** Null if it was deleted meanwhile, or if the store of files has lost it: then another attempt would find no more. */
async function readLines(db: Database, id: string, size: number): Promise<Buffer | null> {
  try {
    return await encodeBase64(readBytes(db, id, { first: 0, last: size - 1 }));
  } catch (error) {
    if (error instanceof FormsvcError && error.code !== "gone") throw error;
    return null;
  }
}
