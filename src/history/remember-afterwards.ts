import type { Database } from "../database/database.ts";
import type { RecalledPost } from "./remember-texts.ts";
import type { SpamMemory } from "./spam-memory.ts";

/** The largest number of posts that wait until the transaction before theirs has ended. The texts of others are not remembered. */
const MAX_WAITING = 512;

/**
 * Remembers posts in a transaction of its own after theirs, so that none waits for rows that all copies of a campaign change. What
 * is lost with a crash costs one copy that is not recognised.
 */
export function rememberAfterwards(
  db: Pick<Database, "relaxedTransaction">,
  memory: Pick<SpamMemory, "remember">,
  onFailure: (error: unknown) => void,
): (posts: readonly RecalledPost[]) => void {
  let waiting: RecalledPost[] = [];
  let isRunning = false;
  const run = async (): Promise<void> => {
    isRunning = true;
    while (waiting.length > 0) {
      const posts = waiting;
      waiting = [];
      try {
        await db.relaxedTransaction(() => memory.remember(posts));
      } catch (error) {
        onFailure(error);
      }
    }
    isRunning = false;
  };
  return (posts) => {
    waiting.push(...posts.slice(0, MAX_WAITING - waiting.length));
    if (!isRunning) void run();
  };
}
