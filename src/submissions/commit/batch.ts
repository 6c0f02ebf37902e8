import { monthOf } from "../../foundation/clock.ts";
import type { MaybeLater } from "../../foundation/maybe-later.ts";
import { type RecalledPost, type Recollection, toRemember } from "../../history/remember-texts.ts";
import type { NewChunk } from "../../files/stored-file.ts";
import type { PostedSubmission } from "../../outbox/queue/outbox.ts";
import { marksPassed, type UsageMark } from "../../workspaces/usage-mark.ts";
import type { Eviction, HeldBounds } from "../held/evict-held.ts";
import type { HeldPost, NewHeldPost } from "../held/held-post.ts";
import type { IdempotentPost } from "./idempotency.ts";
import type { SpentProof } from "./spent-proofs.ts";
import type { Submission } from "../stored/submission.ts";

/** A submission that is checked and scored, and waits to be stored. */
export interface PendingSubmission extends PostedSubmission {
  readonly kind: "submission";
  readonly submission: Submission;
  readonly workspaceId: string;
  /** The number of accepted submissions that the plan allows in a month; null is unlimited. */
  readonly monthlyLimit: number | null;
  readonly idempotent: IdempotentPost | null;
  /** What the workspace will remember of the post; null if it remembers nothing. */
  readonly recollection: Recollection | null;
  /** The files of the post, whose chunks are stored already; null if it has none. */
  readonly fileIds: readonly string[] | null;
  /** The proof of work, which is spent when the post is stored; null if the post brought none. */
  readonly proof: SpentProof | null;
}

/** A post that is refused, and waits to be kept. */
export interface PendingHeld extends NewHeldPost {
  readonly kind: "held";
  /** The files of the post, whose chunks are stored already; absent or null if it has none. */
  readonly fileIds?: readonly string[] | null;
  /**
   * The time until which its files may stay in the state `scanning`, in milliseconds since 1970 UTC; absent or null if nobody scans them.
   */
  readonly waitsUntil?: number | null;
  /** What the workspace will remember of the post; null if the post was refused only for the monthly limit. */
  readonly recollection: Recollection | null;
  /** The proof of work, which is spent when the post is held; null if the post brought none. */
  readonly proof: SpentProof | null;
}

/** Posts that are stored in one transaction. */
export type Batch = readonly (PendingSubmission | PendingHeld)[];

/**
 * What became of a post. `stored`: it is durable on disk. All others changed nothing. `over_limit`: the month is full. `gone`: the endpoint
 * was deleted meanwhile. `moved`: the endpoint belongs to another workspace than the post was checked for. `incomplete`: chunks of the
 * post's files are missing. `spent`: another post used the same proof of work.
 */
export type CommitOutcome = "stored" | "over_limit" | "gone" | "moved" | "incomplete" | "spent" | Repeated;

/** Another server stored a post with this Idempotency-Key a moment ago, or a release of a held post did. */
export interface Repeated {
  /** The id that the first post was given; null if it had another body. */
  readonly firstId: string | null;
}

/** The result of one transaction. */
export interface Committed {
  readonly batch: Batch;
  /** One outcome for each post of the batch, in its order. */
  readonly outcomes: readonly CommitOutcome[];
  /** Held posts that were deleted for lack of room, one entry for each workspace. */
  readonly evictions: readonly Eviction[];
  /** Shares of monthly limits that were reached. */
  readonly marks: readonly UsageMark[];
}

/**
 * Stores a batch in one durable transaction. A call takes at most one chunk of a file, so that files never hold up other posts for long. An
 * engine that waits for a network returns a promise.
 *
 * @throws database_busy if another process holds the database, and the same batch may be tried again; database_unusable.
 */
export interface BatchWriter {
  (batch: Batch, chunk?: NewChunk): MaybeLater<Committed>;
  /**
   * Returns a promise that the next chunk has to wait for; null if the chunk may be stored now. An engine with this method stores a chunk
   * by itself, with an empty batch, so that no post waits for the bytes of a file. An engine without it stores a chunk together with posts.
   */
  readonly heldChunks?: () => Promise<void> | null;
}

/** The number of accepted submissions of one workspace and month; it grows while the posts of a batch are decided. */
interface Count {
  readonly workspaceId: string;
  readonly month: string;
  /** The count when the batch began. */
  readonly before: number;
  used: number;
  /** The monthly limit of the last submission that was counted; null is unlimited. */
  limit: number | null;
}

/** A workspace that has more held posts than before. */
export interface HoldingWorkspace {
  readonly workspaceId: string;
  readonly most: HeldBounds;
  readonly now: number;
}

/** Returns one post for each endpoint that holds more posts for their origin than before, sorted by endpoint. */
export function originHoldersOf(held: readonly PendingHeld[]): HeldPost[] {
  const byEndpoint = new Map<string, HeldPost>();
  for (const { held: post } of held) if (post.why === "origin") byEndpoint.set(post.endpointId, post);
  return [...byEndpoint.values()].toSorted((one, other) => (one.endpointId < other.endpointId ? -1 : 1));
}

/**
 * Returns the workspaces of these held posts, each once, sorted by id. @param maxPosts the largest number of held posts that a workspace
 * keeps; null is unlimited.
 */
export function holdersOf(held: readonly PendingHeld[], maxPosts: number | null): HoldingWorkspace[] {
  const holders = new Map<string, HoldingWorkspace>();
  for (const {
    held: { workspaceId, createdAt },
    maxBytes,
  } of held)
    holders.set(workspaceId, { workspaceId, most: { posts: maxPosts, bytes: maxBytes }, now: createdAt });
  return [...holders.values()].toSorted((one, other) => (one.workspaceId < other.workspaceId ? -1 : 1));
}

/** Decides which submissions of a batch the monthly limits allow. */
export interface BatchCounts {
  allows(pending: PendingSubmission): boolean;
  add(pending: PendingSubmission): void;
  readonly all: () => Iterable<Count>;
  readonly marks: () => UsageMark[];
}

/** @param read reads the count from the table. Nobody else changes that count until the batch ends. */
export function createCounts(read: (workspaceId: string, month: string) => number): BatchCounts {
  const counts = new Map<string, Count>();
  let latest: Count | undefined;
  const countFor = ({ workspaceId, monthlyLimit, submission }: PendingSubmission): Count => {
    const month = monthOf(submission.createdAt);
    // Most posts of a batch count for the same month of the same workspace.
    if (latest?.workspaceId === workspaceId && latest.month === month) return latest;
    const unit = `${workspaceId} ${month}`;
    let count = counts.get(unit);
    if (count === undefined) {
      const before = read(workspaceId, month);
      count = { workspaceId, month, before, used: before, limit: monthlyLimit };
      counts.set(unit, count);
    }
    latest = count;
    return count;
  };
  return {
    allows: (pending) => pending.monthlyLimit === null || countFor(pending).used < pending.monthlyLimit,
    add(pending) {
      const count = countFor(pending);
      count.used += 1;
      count.limit = pending.monthlyLimit;
    },
    all: () => counts.values(),
    marks: () => [...counts.values()].flatMap(marksPassed),
  };
}

/** What an engine has read and locked before it decides on the posts of a batch. */
export interface BatchFacts {
  /** The workspace of an endpoint; undefined if the endpoint is deleted. */
  workspaceOf(endpointId: string): string | undefined;
  /** Whether an earlier attempt at this transaction stored the submission. */
  isStored(submissionId: string): boolean;
  /** The id that an earlier post with the same Idempotency-Key got; undefined if there is no such post. */
  firstOf(pending: PendingSubmission): Repeated | undefined;
  /** Whether all bytes of these files are stored. */
  areWhole(fileIds: readonly string[]): boolean;
  /** Whether the post's proof of work is unspent. An engine may spend the proof in this call, so `decide` asks for it last. */
  hasProof(pending: PendingSubmission | PendingHeld): boolean;
}

/** Decides on one post of a batch; posts are decided in their order. A post that is `stored` is counted. */
export function decide(
  pending: PendingSubmission | PendingHeld,
  found: BatchFacts,
  counts: BatchCounts,
): CommitOutcome {
  if (pending.kind === "submission" && found.isStored(pending.submission.id)) return "stored";
  const workspaceId = found.workspaceOf(endpointOf(pending));
  if (workspaceId === undefined) return "gone";
  if (workspaceId !== checkedFor(pending)) return "moved";
  if (pending.kind === "held") return found.hasProof(pending) ? "stored" : "spent";
  const first = found.firstOf(pending);
  if (first !== undefined) return first;
  if (pending.fileIds !== null && !found.areWhole(pending.fileIds)) return "incomplete";
  if (!counts.allows(pending)) return "over_limit";
  if (!found.hasProof(pending)) return "spent";
  counts.add(pending);
  return "stored";
}

/** What the workspace should remember of a post that was stored, as a list of none or one. */
export function recalledOf(pending: PendingSubmission | PendingHeld): RecalledPost[] {
  const { recollection } = pending;
  if (recollection === null) return [];
  const recalled =
    pending.kind === "held"
      ? toRemember(pending.held.workspaceId, recollection, pending.held.spamClass)
      : toRemember(pending.workspaceId, recollection, pending.submission.spamClass);
  return recalled === null ? [] : [recalled];
}

export function isHeld(pending: PendingSubmission | PendingHeld): pending is PendingHeld {
  return pending.kind === "held";
}

export function isSubmission(pending: PendingSubmission | PendingHeld): pending is PendingSubmission {
  return pending.kind === "submission";
}

/** The id that the post has, whether it is stored or held. */
export function idOf(pending: PendingSubmission | PendingHeld): string {
  return pending.kind === "held" ? pending.held.id : pending.submission.id;
}

/** The workspace whose limits and memory the post was checked with. */
function checkedFor(pending: PendingSubmission | PendingHeld): string {
  return pending.kind === "held" ? pending.held.workspaceId : pending.workspaceId;
}

export function endpointOf(pending: PendingSubmission | PendingHeld): string {
  return pending.kind === "held" ? pending.held.endpointId : pending.submission.endpointId;
}
