import type { BatchWriter, PendingHeld, PendingSubmission } from "./batch.ts";

/** Time from a chunk to the next one beside posts: 262,144 bytes each make 16 MB a second, more than a line of 100 Mbit/s brings. */
const GAP_MS = 16;
/** Time after the last post without files in which others are expected. */
const EXPECTED_MS = 1000;

/**
 * Says when a chunk that does not go along with posts may be stored. Posts that wait go first if the last chunk was a moment ago. While posts without
 * files come, chunks are spread out: stored as fast as possible, they take so much of the processor and of the disk that a post lasts twice as long.
 */
export interface ChunkPace {
  /** These posts are stored. */
  notePosts(posts: readonly { readonly pending: PendingSubmission | PendingHeld }[]): void;
  /** A chunk has been stored, or could not be. */
  noteChunk(): void;
  /** @param waitingPosts their number. */
  mayStore(waitingPosts: number): boolean;
  /** What the next chunk has to wait for; null lets it go on. */
  held(): Promise<void> | null;
}

/** @param nowMs of a clock that never goes back. */
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
