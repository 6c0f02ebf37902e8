import { chunksOf } from "../files/byte-source.ts";
import type { CommitOutcome, PendingSubmission } from "./batch.ts";
import type { CommitQueue } from "./commit-batch.ts";
import type { AcceptedFile } from "./incoming-file.ts";

export interface FileStoring {
  readonly commits: Pick<CommitQueue, "add" | "addChunk">;
  /** Deletes files that got no submission. */
  readonly dropFiles: (ids: readonly string[]) => void;
  /** The data of a submission as JSON, each file with an address, for messages. */
  readonly linkFiles: (data: Readonly<Record<string, unknown>>, now: number) => Promise<string>;
}

/** Whom files belong to. */
interface Place {
  readonly endpointId: string;
  readonly createdAt: number;
}

/**
 * Stores the bytes of a post's files, each chunk with the commit of some batch. Returns their ids, null for none. They belong to nothing
 * until their submission is stored: whatever ends the process before leaves rows that a clean-up deletes.
 *
 * @throws unavailable; what was stored is deleted then.
 */
export async function storeFiles(
  { commits, dropFiles }: Omit<FileStoring, "linkFiles">,
  files: readonly AcceptedFile[],
  { endpointId, createdAt }: Place,
): Promise<readonly string[] | null> {
  if (files.length === 0) return null;
  const ids = files.map(({ facts }) => facts.id);
  try {
    for (const { facts, source } of files) {
      const file = { ...facts, endpointId, createdAt };
      let position = 0;
      for await (const bytes of chunksOf(source)) {
        await commits.addChunk({ file, position, bytes });
        position += 1;
      }
    }
    return ids;
  } catch (error) {
    dropFiles(ids);
    throw error;
  }
}

/** The last commit of a post with files: it brings the submission, and gives the files to it. */
export async function addWithFiles(
  { commits, dropFiles, linkFiles }: FileStoring,
  pending: PendingSubmission,
  fileIds: readonly string[],
): Promise<CommitOutcome> {
  let outcome: CommitOutcome | null = null;
  try {
    const { submission } = pending;
    const linkedData = await linkFiles(submission.data, submission.createdAt);
    const linked = { ...pending, submission: { ...submission, linkedData } };
    return (outcome = await commits.add(linked));
  } finally {
    if (outcome !== "stored") dropFiles(fileIds);
  }
}
