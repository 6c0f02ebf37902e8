import { describe, expect, test } from "vitest";
import type { Database } from "../../src/database/database.ts";
import { listNearLimit, type NearLimitPage } from "../../src/workspaces/near-limit.ts";
import { insertAccountRows } from "../../src/workspaces/workspace-store.ts";
import { ENGINES, rowsOf, write } from "../support/engines.ts";
import { NOON } from "../support/fake-clock.ts";

const PLANS = { hobby: { monthlySubmissions: 5, endpoints: null, customSpam: false } };
/** More than one page. */
const WORKSPACES = 502;

async function fill(db: Database): Promise<string[]> {
  await db.transaction(() => insertAccountRows("owner@example.com", NOON));
  const [account] = await rowsOf<{ id: string }>(db, "SELECT id FROM account");
  const ids = Array.from({ length: WORKSPACES }, (_, number) => `ws_${String(number).padStart(26, "0")}`);
  const rows = ids.map((id) => `('${id}', '${account?.id ?? ""}', 'W', 'hobby', 1)`).join();
  await write(
    db,
    `INSERT INTO workspace (id, account_id, name, plan, created_at) VALUES ${rows}`,
    "INSERT INTO usage (workspace_id, month, used) SELECT id, '2026-06', 4 FROM workspace",
    `UPDATE usage SET used = 3 WHERE workspace_id = '${ids[1] ?? ""}'`,
  );
  return ids;
}

describe.each(ENGINES)("workspaces near their limit on $name", ({ temporary }) => {
  test("are found page by page, each once, and one alone by its id", async () => {
    const db = await temporary();
    const ids = await fill(db);
    const found: string[] = [];
    let after: string | null = null;
    do {
      const range: { after: string | null; only: null } = { after, only: null };
      const page: NearLimitPage = await db.read(() => listNearLimit(PLANS, "2026-06", range));
      found.push(...page.found.map(({ workspaceId }) => workspaceId));
      after = page.last;
    } while (after !== null);
    expect(found.filter((id) => ids.includes(id))).toEqual(ids.filter((id) => id !== ids[1]));
    const only = async (id: string, month = "2026-06") =>
      (await db.read(() => listNearLimit(PLANS, month, { after: null, only: id }))).found.length;
    expect([await only(ids[7] ?? ""), await only(ids[1] ?? ""), await only(ids[7] ?? "", "2026-07")]).toEqual(
      [1, 0, 0],
    );
  });
});
