import { chunksAhead } from "../../files/byte-source.ts";
import type { FileRoom, TakenFiles, Uploading } from "../../files/file-room.ts";
import type { ObjectStore } from "../../files/object-store.ts";
import { type NewFile, newObjectId } from "../../files/stored-file.ts";
import { FormsvcError } from "../../foundation/errors.ts";
import type { Caller } from "./authenticate.ts";
import type { CommitOutcome, PendingSubmission } from "../commit/batch.ts";
import type { CommitQueue } from "../commit/commit-batch.ts";
import type { AcceptedFile } from "./incoming-file.ts";
import { withScanning } from "../files/scanned-files.ts";

export interface FileStoring {
  readonly commits: Pick<CommitQueue, "add" | "addChunk">;
  readonly fileRoom: Pick<FileRoom, "take">;
  /** The object store for new files; null if new files go into the database. */
  readonly objects: Pick<ObjectStore, "put"> | null;
  /** Deletes files that belong to no submission, and subtracts their bytes from the counts of the day. */
  readonly dropFiles: (taken: TakenFiles) => void;
  /** Returns the data of a submission as JSON with a link for each of these files, for messages. */
  readonly linkFiles: (
    data: Readonly<Record<string, unknown>>,
    now: number,
    fileIds: readonly string[],
  ) => Promise<string>;
  /** The longest time that messages wait for the scan of files, in milliseconds; null or absent if files are not scanned. */
  readonly scanWaitMs?: number | null;
}

/** @param address the IP address of the person; null or empty if it is unknown. */
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

/** The sender and the time of a post with files. */
interface FileParent {
  readonly uploading: Uploading;
  readonly createdAt: number;
}

/**
 * Stores the bytes of a post's files: each chunk in the commit of some batch, or each file in the object store. Returns null if there are
 * no files. The files belong to nothing until their submission is stored: if the process ends before, a clean-up deletes their rows.
 *
 * @throws unavailable, upload_limit, storage_limit; what was stored is deleted then.
 */
export async function storeFiles(
  { commits, fileRoom, dropFiles, objects }: Omit<FileStoring, "linkFiles">,
  files: readonly AcceptedFile[],
  { uploading, createdAt }: FileParent,
): Promise<TakenFiles | null> {
  if (files.length === 0) return null;
  const { endpointId } = uploading;
  const rows = files.map(({ facts }): NewFile => {
    const objectId = objects === null ? null : newObjectId(facts.id);
    return { ...facts, endpointId, createdAt, objectId };
  });
  const taken = await fileRoom.take(uploading, rows).catch((error: unknown) => {
    throw asRefusal(error);
  });
  try {
    for (const [index, { source }] of files.entries()) {
      const file = rows[index] as NewFile;
      if (typeof file.objectId === "string") {
        await objects?.put(file.objectId, source, file);
        continue;
      }
      let position = 0;
      for await (const bytes of chunksAhead(source)) {
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

/** Turns an error of the database into one that asks to try again. An error about a limit is returned unchanged. */
function asRefusal(error: unknown): unknown {
  if (!(error instanceof FormsvcError) || !error.code.startsWith("database_")) return error;
  return new FormsvcError("unavailable", "The files could not be stored; try again shortly.", {
    retryAfterSeconds: error.facts.retryAfterSeconds ?? 5,
    cause: error,
  });
}

/**
 * Makes the last commit of a post with files: it stores the submission and attaches the files to it. If the month is full, the files stay
 * for the held post; else a refusal deletes them.
 */
export async function addWithFiles(
  { commits, dropFiles, linkFiles, scanWaitMs = null }: Omit<FileStoring, "fileRoom" | "objects">,
  pending: PendingSubmission,
  taken: TakenFiles,
): Promise<CommitOutcome> {
  let outcome: CommitOutcome | null = null;
  try {
    const { submission } = pending;
    const { data, createdAt } = submission;
    if (scanWaitMs === null) {
      const linkedData = await linkFiles(data, createdAt, pending.fileIds ?? []);
      const linked = { ...submission, linkedData };
      return (outcome = await commits.add({ ...pending, submission: linked }));
    }
    const scanned = { ...submission, data: withScanning(data, pending.fileIds ?? []) };
    return (outcome = await commits.add({
      ...pending,
      submission: scanned,
      waitsUntil: createdAt + scanWaitMs,
    }));
  } finally {
    // If the month is full, the post is held with its files.
    if (outcome !== "stored" && outcome !== "over_limit") dropFiles(taken);
  }
}
