import { describe, expect, test } from "vitest";
import { type Change, dropOldChanges, listChanges, recordChange } from "../../src/audit/audit-store.ts";
import { NOON } from "../support/fake-clock.ts";
import { ENGINES, rowsOf, write } from "../support/engines.ts";
import { DAY_MS } from "../../src/foundation/time-units.ts";

const ANA = { accountId: "acct_ana", email: "ana@example.org" };
const CHANGE: Change = { action: "endpoint.create", subject: "ep_1", workspaceId: "ws_1", detail: "Contact" };

/** In PostgreSQL the name of what is inserted into comes first. */
function insertFirst(sql: string): string {
  return sql.replace(/(WITH.*)\s(INSERT.*\))\s(SELECT.*)/s, "$2 $1 $3");
}

describe.each(ENGINES)("on $name", ({ temporary }) => {
  test("changes are listed from the newest on, page by page, with who made them", async () => {
    const db = await temporary();
    await db.transaction(() => recordChange(ANA, CHANGE, NOON));
    await db.transaction(() => recordChange(null, { ...CHANGE, workspaceId: null, detail: null }, NOON + 1));
    await db.transaction(() =>
      recordChange(ANA, { ...CHANGE, subject: "x".repeat(5000), detail: "y".repeat(5000) }, NOON + 2),
    );
    const page = await db.transaction(() => listChanges(2));
    expect(page).toEqual([
      { ...CHANGE, id: 3, at: NOON + 2, actor: ANA, subject: "x".repeat(500), detail: "y".repeat(500) },
      { ...CHANGE, id: 2, at: NOON + 1, actor: null, workspaceId: null, detail: null },
    ]);
    expect(await db.transaction(() => listChanges(2, page[1]!.id))).toEqual([
      { ...CHANGE, id: 1, at: NOON, actor: ANA },
    ]);
  });

  test("changes of visitors, of the command line, of accounts and of tokens are told apart", async () => {
    const db = await temporary();
    const token = { tokenId: "tok_1", tokenName: "CI" };
    const doers = [
      ANA,
      "visitor",
      null,
      { terminalUser: "ana" },
      { ...token, account: null },
      { ...token, account: ANA },
    ] as const;
    for (const doer of doers) await db.transaction(() => recordChange(doer, CHANGE, NOON));
    const listed = await db.read(() => listChanges(6));
    expect(listed.map(({ actor }) => actor).toReversed()).toEqual(doers);
  });

  test("changes beyond 10,000 that are older than a week go, the oldest first", async () => {
    const db = await temporary();
    const many = `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10600)
      INSERT INTO audit_event (at, action, subject) SELECT ${NOON}, 'a.b', 'c' FROM n`;
    await write(db, db.engine === "sqlite" ? many : insertFirst(many));
    expect(await db.transaction(() => dropOldChanges(NOON + 7 * DAY_MS))).toBe(0);
    for (const dropped of [600, 0])
      expect(await db.transaction(() => dropOldChanges(NOON + 7 * DAY_MS + 1))).toBe(dropped);
    expect(await rowsOf(db, "SELECT min(id) AS first, max(id) AS last FROM audit_event")).toEqual([
      { first: 601, last: 10_600 },
    ]);
  });

  test("a flood of one account pushes out its own changes, and none of the others or of the command line", async () => {
    const db = await temporary();
    const eve = { accountId: "acct_eve", email: "eve@example.org" };
    for (const actor of [ANA, null, eve]) await db.transaction(() => recordChange(actor, CHANGE, NOON));
    const flood = `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10100)
      INSERT INTO audit_event (at, action, subject, account_id) SELECT ${NOON}, 'a.b', 'c', 'acct_eve' FROM n`;
    await write(db, db.engine === "sqlite" ? flood : insertFirst(flood));
    expect(await db.transaction(() => dropOldChanges(NOON + 7 * DAY_MS + 1))).toBe(103);
    expect(await rowsOf(db, "SELECT id FROM audit_event ORDER BY id LIMIT 3")).toEqual([
      { id: 1 },
      { id: 2 },
      { id: 106 },
    ]);
    expect(await rowsOf(db, "SELECT max(id) AS last FROM audit_event")).toEqual([{ last: 10_103 }]);
  });

  test("a flood of this week pushes out nothing that others did before, and beyond 100,000 its own oldest alone", async () => {
    const db = await temporary();
    for (const at of [NOON - 30 * DAY_MS, NOON]) {
      await db.transaction(() => recordChange(ANA, CHANGE, at));
      await db.transaction(() => recordChange(null, CHANGE, at));
    }
    const flood = `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 102500)
      INSERT INTO audit_event (at, action, subject, token_id, workspace_id) SELECT ${NOON}, 'a.b', 'c', 'tok_' || i, 'ws_eve' FROM n`;
    await write(db, db.engine === "sqlite" ? flood : insertFirst(flood));
    for (const dropped of [2000, 502, 0])
      expect(await db.transaction(() => dropOldChanges(NOON + 1))).toBe(dropped);
    expect(await rowsOf(db, "SELECT id FROM audit_event ORDER BY id LIMIT 5")).toEqual(
      [1, 2, 3, 4, 2507].map((id) => ({ id })),
    );
  });

  test("changes older than 400 days go", async () => {
    const db = await temporary();
    await db.transaction(() => recordChange(ANA, CHANGE, NOON - 1));
    await db.transaction(() => recordChange(ANA, CHANGE, NOON));
    expect(await db.transaction(() => dropOldChanges(NOON + 400 * DAY_MS))).toBe(1);
    expect((await db.transaction(() => listChanges(10))).map(({ at }) => at)).toEqual([NOON]);
  });
});
