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
  /** Accepted submissions that the plan allows in the month; null is unlimited. */
  readonly monthlyLimit: number | null;
  readonly idempotent: IdempotentPost | null;
  /** What the workspace will remember of it; null for nothing. */
  readonly recollection: Recollection | null;
  /** Its files, whose chunks are stored already; null for none. */
  readonly fileIds: readonly string[] | null;
  /** Spent with it; null if it brought none. */
  readonly proof: SpentProof | null;
}

/** A post that is refused, and waits to be kept. */
export interface PendingHeld extends NewHeldPost {
  readonly kind: "held";
  /** Its files, whose chunks are stored already; absent or null for none. */
  readonly fileIds?: readonly string[] | null;
  /** Until when its files are `scanning`; absent or null if nobody scans them. */
  readonly waitsUntil?: number | null;
  /** Null if the workspace should not remember it, because it was refused only for the limit. */
  readonly recollection: Recollection | null;
  /** Spent with it; null if it brought none. */
  readonly proof: SpentProof | null;
}

/** Posts that are stored in one transaction. */
export type Batch = readonly (PendingSubmission | PendingHeld)[];

/**
 * `stored` is durable on disk; the others changed nothing. `gone`: the endpoint was deleted meanwhile. `moved`: it belongs to another
 * workspace than the post was checked for. `incomplete`: chunks of its files are not there any more. `spent`: another post had its proof.
 */
export type CommitOutcome = "stored" | "over_limit" | "gone" | "moved" | "incomplete" | "spent" | Repeated;

/** Another server stored a post with this Idempotency-Key a moment ago. */
export interface Repeated {
  /** The id that the first post was given; null if it had another body. */
  readonly firstId: string | null;
}

/** The result of one transaction. */
export interface Committed {
  readonly batch: Batch;
  /** One for each post of the batch. */
  readonly outcomes: readonly CommitOutcome[];
  /** Held posts that were deleted for lack of room, one entry for each workspace. */
  readonly evictions: readonly Eviction[];
  /** Shares of monthly limits that were reached. */
  readonly marks: readonly UsageMark[];
}

/**
 * Stores a batch in one durable transaction, and at most one chunk of a file, so that files never hold up other posts for long. An engine that waits for a network returns a promise.
 *
 * @throws database_busy if another process is in the way, and the same batch may be tried again; database_unusable.
 */
export interface BatchWriter {
  (batch: Batch, chunk?: NewChunk): MaybeLater<Committed>;
  /**
   * Tells what the next chunk has to wait for; null lets it go on. An engine that has this stores a chunk by itself, with an empty batch, so that
   * no post waits for the bytes of a file. The other engine stores a chunk together with posts.
   */
  readonly heldChunks?: () => Promise<void> | null;
}

/** The accepted submissions of one workspace and month, as a batch goes on. */
export interface Count {
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

/** The endpoints of these posts that hold more for their origin than before, in one order. */
export function originHoldersOf(held: readonly PendingHeld[]): HeldPost[] {
  const byEndpoint = new Map<string, HeldPost>();
  for (const { held: post } of held) if (post.why === "origin") byEndpoint.set(post.endpointId, post);
  return [...byEndpoint.values()].toSorted((one, other) => (one.endpointId < other.endpointId ? -1 : 1));
}

/** The workspaces of these held posts, each once, in one order. @param maxPosts held posts that a workspace keeps; null is unlimited. */
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

/** @param read the table's count, which nobody else changes until the batch ends. */
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

/** What an engine finds behind its locks, before it decides on a post. */
export interface BatchFacts {
  /** The workspace of an endpoint; undefined if it is gone. */
  workspaceOf(endpointId: string): string | undefined;
  /** Whether an earlier attempt at this transaction stored it. */
  isStored(submissionId: string): boolean;
  /** What another post with its Idempotency-Key was given. */
  firstOf(submissionId: string): Repeated | undefined;
  /** Whether files are there with all their bytes. */
  areWhole(fileIds: readonly string[]): boolean;
  /** Whether nobody else has its proof. An engine may spend it now, so that this is asked last. */
  hasProof(pending: PendingSubmission | PendingHeld): boolean;
}

/** Decides on the posts of a batch, in their order. What is `stored` is counted. */
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
  const first = found.firstOf(pending.submission.id);
  if (first !== undefined) return first;
  if (pending.fileIds !== null && !found.areWhole(pending.fileIds)) return "incomplete";
  if (!counts.allows(pending)) return "over_limit";
  if (!found.hasProof(pending)) return "spent";
  counts.add(pending);
  return "stored";
}

/** What the workspace should remember of a post that was stored. */
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
