import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { migrate } from "../../src/database/migrate.ts";
import { openDatabase } from "../../src/database/sqlite/open-database.ts";
import type { SqliteDatabase } from "../../src/database/sqlite/sqlite-database.ts";
import { hasLink, judge } from "../../src/spam/judge.ts";
import type { SpamPost } from "../../src/spam/spam-post.ts";
import { defaultSpamSettings } from "../../src/spam/spam-settings.ts";
import { createBurstMemory } from "../../src/history/burst-memory.ts";
import { createRecentTexts } from "../../src/history/recent-texts.ts";
import { createSpamMemory } from "../../src/history/spam-memory.ts";
import { createAccount } from "../../src/workspaces/workspace-store.ts";
import { identityOf, type MeasureRow } from "./cases.ts";

const settings = defaultSpamSettings(3);
const SECONDS_BETWEEN = 700;

/** The scores of rows that come one after the other to workspaces that remember, without a single mark. */
export function replay(rows: readonly MeasureRow[], workspaceOf: (row: MeasureRow) => string): number[] {
  const folder = mkdtempSync(join(tmpdir(), "formsvc-replay-"));
  const db = openDatabase(join(folder, "replay.db"), { busyTimeoutMs: 1000 });
  try {
    migrate(db);
    return replayInto(db, rows, workspaceOf);
  } finally {
    db.close();
    rmSync(folder, { recursive: true });
  }
}

function replayInto(
  db: SqliteDatabase,
  rows: readonly MeasureRow[],
  workspaceOf: (row: MeasureRow) => string,
): number[] {
  const memory = createSpamMemory(db, { bursts: createBurstMemory(), texts: createRecentTexts() });
  const workspaces = new Map<string, string>();
  return rows.map((row, index) => {
    const name = workspaceOf(row);
    const workspaceId =
      workspaces.get(name) ?? db.now(() => createAccount(`${workspaces.size}@example.org`, 0)).workspace.id;
    workspaces.set(name, workspaceId);
    const post = postOf(row, index);
    const recollection = memory.recall(workspaceId, name, post, index * SECONDS_BETWEEN * 1000);
    const { score, reasons } = judge(post, settings, recollection.history);
    if (reasons.length > 0 || hasLink(post)) {
      db.transactionNow(() => memory.remember([{ workspaceId, recollection }]));
    }
    return score;
  });
}

/** Senders with addresses of the same domain and shape count as one; genuine rows have a sender each. */
function postOf(row: MeasureRow, index: number): SpamPost {
  const content = row.subject ? { subject: row.subject, message: row.text } : { message: row.text };
  const email = row.site === undefined ? `person${index}@example.org` : identityOf(row).email;
  return { fields: { email, ...content }, honeypots: [], elapsedMs: null, client: null };
}
