import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { migrate } from "../../src/database/migrate.ts";
import { openDatabase } from "../../src/database/sqlite/open-database.ts";
import type { SqliteDatabase } from "../../src/database/sqlite/sqlite-database.ts";
import { weigh } from "../../src/spam/score-spam.ts";
import { noHistory } from "../../src/spam/spam-history.ts";
import type { SpamPost } from "../../src/spam/spam-post.ts";
import type { TextModel } from "../../src/spam/text-model.ts";
import { createBurstMemory } from "../../src/history/burst-memory.ts";
import { toRemember } from "../../src/history/remember-texts.ts";
import { createSpamMemory } from "../../src/history/spam-memory.ts";
import { insertAccountRows } from "../../src/workspaces/workspace-store.ts";
import { evidenceOf } from "./cases.ts";

const SECONDS_BETWEEN = 700;

/** A post to a workspace whose filter remembers. */
export interface ReplayedPost {
  readonly workspace: string;
  readonly post: SpamPost;
}

/** The score of a post by its content alone, and the score with what its workspace remembers of earlier posts. */
export interface ReplayedScore {
  readonly alone: number;
  readonly remembered: number;
}

/**
 * Scores posts that come one after the other, none of which is marked by a person.
 *
 * @param model null uses the model that ships
 */
export function replay(posts: readonly ReplayedPost[], model: TextModel | null): ReplayedScore[] {
  const folder = mkdtempSync(join(tmpdir(), "formsvc-replay-"));
  const db = openDatabase(join(folder, "replay.db"), { busyTimeoutMs: 1000 });
  try {
    migrate(db);
    return replayInto(db, posts, model);
  } finally {
    db.close();
    rmSync(folder, { recursive: true });
  }
}

function replayInto(
  db: SqliteDatabase,
  posts: readonly ReplayedPost[],
  model: TextModel | null,
): ReplayedScore[] {
  const memory = createSpamMemory(createBurstMemory());
  const workspaces = new Map<string, string>();
  return posts.map(({ workspace, post }, index) => {
    const workspaceId =
      workspaces.get(workspace) ??
      db.now(() => insertAccountRows(`${workspaces.size}@example.org`, 0)).workspace.id;
    workspaces.set(workspace, workspaceId);
    const now = index * SECONDS_BETWEEN * 1000;
    const recollection = db.now(() => memory.recall(workspaceId, workspace, post, now));
    const { score, spamClass } = weigh(evidenceOf(post, model, recollection.history));
    const recalled = toRemember(workspaceId, recollection, spamClass);
    if (recalled !== null) db.transactionNow(() => db.now(() => memory.remember([recalled])));
    return { alone: weigh(evidenceOf(post, model, noHistory)).score, remembered: score };
  });
}
