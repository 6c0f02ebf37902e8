import type { FileRoom, TakenFiles } from "../../files/file-room.ts";
import { FormsvcError } from "../../foundation/errors.ts";
import { newId } from "../../foundation/id.ts";
import { shortenAddress } from "../../foundation/ip-address.ts";
import type { Recollection } from "../../history/remember-texts.ts";
import type { Language } from "../../languages/language.ts";
import { networkHash } from "../../spam/post-trace.ts";
import type { Caller } from "./authenticate.ts";
import type { PendingHeld } from "../commit/batch.ts";
import { heldBytes, type HeldPost } from "../held/held-post.ts";
import type { IdempotentPost } from "../commit/idempotency.ts";
import { acceptedFiles, type IncomingFile, withLostFiles } from "./incoming-file.ts";
import { type FileStoring, storeFiles, uploadingOf } from "./store-files.ts";
import type { CommitQueue } from "../commit/commit-batch.ts";
import { MovedMeanwhile } from "./post-errors.ts";
import { withScanning } from "../files/scanned-files.ts";
import type { SpentProof } from "../commit/spent-proofs.ts";
import type { Submission } from "../stored/submission.ts";

/** A post that matches the schema, with the verdict of the filter. */
export interface Examined {
  readonly submission: Submission;
  readonly trapped: boolean;
  /** The submitter's full IP address, even if only a part of it is stored. */
  readonly address: string;
  readonly recollection: Recollection;
  /** The proof of work for the form's challenge; null if there is none. */
  readonly proof: SpentProof | null;
  /** Returns the language of the visitor, see {@link visitorLanguage}. */
  readonly language: () => Language | null;
}

/** The reason for holding a post, and what belongs to it. */
interface Cause {
  readonly idempotent: IdempotentPost | null;
  readonly cause: HeldPost["why"];
  /** The origin of the page; only if `cause` is `origin`. */
  readonly origin?: string;
  readonly files: HeldFiles;
}

export interface HoldParts extends FileStoring {
  readonly commits: CommitQueue;
  readonly fileRoom: Pick<FileRoom, "take" | "hold">;
  /** `held.maxFileBytes`: the largest total size of files of a workspace's held posts, in bytes. */
  readonly heldFileBytes: number;
}

/** The files of a refused post: `incoming` still wait to be stored, or the chunks of `taken` are stored already. */
interface HeldFiles {
  readonly incoming: readonly IncomingFile[] | undefined;
  readonly taken: TakenFiles | null;
}

/**
 * Holds a refused post, with its files if there is room. A post that is both spam and over the limit is held as spam, because its release
 * should teach the filter. Returns false if the workspace has no room for a post of this size, or the endpoint was deleted meanwhile.
 *
 * @throws MovedMeanwhile
 */
export async function hold(
  parts: HoldParts,
  caller: Caller,
  examined: Examined,
  { idempotent, cause, origin, files }: Cause,
): Promise<boolean> {
  const { submission, trapped, address, recollection, proof } = examined;
  const why = submission.spamClass === "blocked" && cause !== "origin" ? "spam" : cause;
  const { workspaceId } = caller.ready.endpoint;
  const { fileFields } = caller.ready.schema;
  const id = newId("held", submission.createdAt);
  const whole: HeldPost = { ...submission, id, workspaceId, why, origin };
  const maxBytes = caller.ready.limits.heldBytes ?? null;
  const hasRoom = maxBytes === null || heldBytes(whole) <= maxBytes;
  const kept = hasRoom ? await keepFiles(parts, caller, examined, files) : null;
  if (kept === null && files.taken !== null) parts.dropFiles(files.taken);
  const fileIds = kept === null ? null : kept.files.map(({ id: fileId }) => fileId);
  const scanWaitMs = fileIds === null || fileIds.length === 0 ? null : (parts.scanWaitMs ?? null);
  const held = withFates(whole, { fileFields, fileIds, isScanned: scanWaitMs !== null });
  const bytes = heldBytes(held);
  if (maxBytes !== null && bytes > maxBytes) return false;
  try {
    const pending: PendingHeld = {
      kind: "held",
      held,
      bytes,
      maxBytes,
      trapped,
      network: networkHash(shortenAddress(address)),
      idempotent,
      recollection: why === "spam" ? recollection : null,
      fileIds,
      waitsUntil: scanWaitMs === null ? null : submission.createdAt + scanWaitMs,
      proof,
    };
    return await commitHeld(parts.commits, pending, caller);
  } finally {
    // Runs whatever the outcome. It does not delete files that belong to the held post by now.
    if (kept !== null) parts.dropFiles(kept);
  }
}

/** Returns whether the post was stored. @throws MovedMeanwhile */
async function commitHeld(commits: CommitQueue, pending: PendingHeld, { ready }: Caller): Promise<boolean> {
  const outcome = await commits.hold(pending);
  if (outcome === "moved") throw new MovedMeanwhile();
  if (outcome !== "spent") return outcome === "stored";
  // Another post spent the same proof of work a moment ago.
  if (ready.endpoint.settings.challenge.isRequired) return false;
  return (await commits.hold({ ...pending, proof: null })) === "stored";
}

interface Fates {
  readonly fileFields: Caller["ready"]["schema"]["fileFields"];
  /** The ids of the files that are kept; null if none are. */
  readonly fileIds: readonly string[] | null;
  readonly isScanned: boolean;
}

/** Sets the states of the files in the data of a held post. */
function withFates(held: HeldPost, { fileFields, fileIds, isScanned }: Fates): HeldPost {
  if (fileFields === null) return held;
  if (fileIds === null) return { ...held, data: withLostFiles(held.data, fileFields) };
  return isScanned ? { ...held, data: withScanning(held.data, fileIds) } : held;
}

/** Stores the files of a post that will be held. Returns null if it has none, if there is no room, or if a honeypot was filled. */
async function keepFiles(
  parts: HoldParts,
  caller: Caller,
  { submission, trapped, address }: Examined,
  { incoming, taken }: HeldFiles,
): Promise<TakenFiles | null> {
  if (trapped || incoming === undefined) return null;
  const uploading = { ...uploadingOf(caller, address), heldBytes: parts.heldFileBytes };
  try {
    if (taken !== null) {
      await parts.fileRoom.hold(uploading, taken);
      return taken;
    }
    const files = acceptedFiles(incoming, caller.ready.schema);
    return await storeFiles(parts, files, { uploading, createdAt: submission.createdAt });
  } catch (error) {
    if (error instanceof FormsvcError) return null;
    throw error;
  }
}
