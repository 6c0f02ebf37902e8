import { chunksOf } from "../files/byte-source.ts";
import type { FileRoom, TakenFiles, Uploading } from "../files/file-room.ts";
import type { NewFile } from "../files/stored-file.ts";
import { FormsvcError } from "../foundation/errors.ts";
import type { Caller } from "./authenticate.ts";
import type { CommitOutcome, PendingSubmission } from "./batch.ts";
import type { CommitQueue } from "./commit-batch.ts";
import type { AcceptedFile } from "./incoming-file.ts";

export interface FileStoring {
  readonly commits: Pick<CommitQueue, "add" | "addChunk">;
  readonly fileRoom: Pick<FileRoom, "take">;
  /** Deletes files that got no submission, and gives their bytes back to the limits of their day. */
  readonly dropFiles: (taken: TakenFiles) => void;
  /** The data of a submission as JSON, each file with an address, for messages. */
  readonly linkFiles: (data: Readonly<Record<string, unknown>>, now: number) => Promise<string>;
}

/** @param address of the person; empty if it is not known. */
export function uploadingOf(
  { key, ready }: Pick<Caller, "key" | "ready">,
  address: string | null,
): Uploading {
  return {
    endpointId: ready.endpoint.id,
    workspaceId: ready.endpoint.workspaceId,
    planBytes: ready.limits.fileBytes ?? null,
    isPublishable: key.kind === "publishable",
    address,
  };
}

/** Whom files belong to. */
interface Place {
  readonly uploading: Uploading;
  readonly createdAt: number;
}

/**
 * Stores the bytes of a post's files, each chunk with the commit of some batch. Returns null for none. They belong to nothing
 * until their submission is stored: whatever ends the process before leaves rows that a clean-up deletes.
 *
 * @throws unavailable, upload_limit, storage_limit; what was stored is deleted then.
 */
export async function storeFiles(
  { commits, fileRoom, dropFiles }: Omit<FileStoring, "linkFiles">,
  files: readonly AcceptedFile[],
  { uploading, createdAt }: Place,
): Promise<TakenFiles | null> {
  if (files.length === 0) return null;
  const { endpointId } = uploading;
  const rows = files.map(({ facts }) => ({ ...facts, endpointId, createdAt }));
  const taken = await fileRoom.take(uploading, rows).catch((error: unknown) => {
    throw asRefusal(error);
  });
  try {
    for (const [index, { source }] of files.entries()) {
      const file = rows[index] as NewFile;
      let position = 0;
      for await (const bytes of chunksOf(source)) {
        await commits.addChunk({ file, position, bytes });
        position += 1;
      }
    }
    return taken;
  } catch (error) {
    dropFiles(taken);
    throw error;
  }
}

/** What the database refuses may be tried again; what a limit refuses is said as it is. */
function asRefusal(error: unknown): unknown {
  if (!(error instanceof FormsvcError) || !error.code.startsWith("database_")) return error;
  return new FormsvcError("unavailable", "The files could not be stored; try again shortly.", {
    retryAfterSeconds: error.facts.retryAfterSeconds ?? 5,
    cause: error,
  });
}

/** The last commit of a post with files: it brings the submission, and gives the files to it. Over the limit they stay, for whoever holds it. */
export async function addWithFiles(
  { commits, dropFiles, linkFiles }: Omit<FileStoring, "fileRoom">,
  pending: PendingSubmission,
  taken: TakenFiles,
): Promise<CommitOutcome> {
  let outcome: CommitOutcome | null = null;
  try {
    const { submission } = pending;
    const linkedData = await linkFiles(submission.data, submission.createdAt);
    const linked = { ...pending, submission: { ...submission, linkedData } };
    return (outcome = await commits.add(linked));
  } finally {
    // Over the month's limit, the post is held with them.
    if (outcome !== "stored" && outcome !== "over_limit") dropFiles(taken);
  }
}
