import type { BatchWriter, PendingHeld, PendingSubmission } from "./batch.ts";

/** Time between two chunks while posts come: chunks of 262,144 bytes make 16 MB a second, more than a line of 100 Mbit/s brings. */
const GAP_MS = 16;
/** For this time after a post without files, more such posts are expected. */
const EXPECTED_MS = 1000;

/**
 * Decides when a chunk may be stored on its own, on an engine that does not store chunks together with posts. If the last chunk was stored
 * a moment ago, posts that wait go first. While posts without files come, chunks are spread out: stored as fast as possible, they take so
 * much of the processor and of the disk that a post lasts twice as long.
 */
export interface ChunkPace {
  /** Called when these posts are about to be stored. */
  notePosts(posts: readonly { readonly pending: PendingSubmission | PendingHeld }[]): void;
  /** Called when a chunk has been stored, or could not be. */
  noteChunk(): void;
  /** @param waitingPosts the number of posts that wait to be stored. */
  mayStore(waitingPosts: number): boolean;
  /** Returns a promise that the next chunk has to wait for; null if it may be stored now. */
  held(): Promise<void> | null;
}

/** @param nowMs reads a clock that never goes back, in milliseconds. */
export function createChunkPace(
  heldByStore: NonNullable<BatchWriter["heldChunks"]>,
  nowMs = (): number => performance.now(),
): ChunkPace {
  let postsAt = -Infinity;
  let chunkAt = -Infinity;
  let waiting: Promise<void> | null = null;
  const leftMs = (): number => chunkAt + GAP_MS - nowMs();
  const wait = async (ms: number): Promise<void> => {
    await new Promise((resolve) => setTimeout(resolve, ms));
    waiting = null;
  };
  const held = (): Promise<void> | null => {
    const left = leftMs();
    const isFree = left <= 0 || nowMs() - postsAt >= EXPECTED_MS;
    return heldByStore() ?? (isFree ? null : (waiting ??= wait(left)));
  };
  return {
    notePosts(posts) {
      if (posts.some(({ pending }) => !pending.fileIds)) postsAt = nowMs();
    },
    noteChunk: () => void (chunkAt = nowMs()),
    mayStore: (waitingPosts) => (waitingPosts === 0 || leftMs() <= 0) && held() === null,
    held,
  };
}
