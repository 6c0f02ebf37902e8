import type { Database } from "../database/database.ts";
import type { RecalledPost } from "./remember-texts.ts";
import type { SpamMemory } from "./spam-memory.ts";

/** The largest number of posts that wait for the running transaction to end. The texts of further ones are not remembered. */
const MAX_WAITING = 512;

/**
 * Returns a function that remembers posts in a transaction of its own, after the one that stored them. So no post waits for rows that all
 * copies of a campaign change. A crash may lose some of this, and then a copy is not recognised.
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
