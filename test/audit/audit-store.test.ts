import { expect, test } from "vitest";
import { type Change, dropOldChanges, listChanges, recordChange } from "../../src/audit/audit-store.ts";
import { NOON } from "../support/fake-clock.ts";
import { temporaryDatabase } from "../support/temporary-database.ts";

const DAY = 86_400_000;
const ANA = { accountId: "acct_ana", email: "ana@example.org" };
const CHANGE: Change = { action: "endpoint.create", subject: "ep_1", workspaceId: "ws_1", detail: "Contact" };

test("changes are listed from the newest on, page by page, with who made them", () => {
  const db = temporaryDatabase();
  db.now(() => recordChange(ANA, CHANGE, NOON));
  db.now(() => recordChange(null, { ...CHANGE, workspaceId: null, detail: null }, NOON + 1));
  db.now(() =>
    recordChange(ANA, { ...CHANGE, subject: "x".repeat(5000), detail: "y".repeat(5000) }, NOON + 2),
  );
  const page = db.now(() => listChanges(2));
  expect(page).toEqual([
    { ...CHANGE, id: 3, at: NOON + 2, actor: ANA, subject: "x".repeat(500), detail: "y".repeat(500) },
    { ...CHANGE, id: 2, at: NOON + 1, actor: null, workspaceId: null, detail: null },
  ]);
  expect(db.now(() => listChanges(2, page[1]!.id))).toEqual([{ ...CHANGE, id: 1, at: NOON, actor: ANA }]);
});

test("changes beyond 10,000 go, the oldest first, 500 at a time", () => {
  const db = temporaryDatabase();
  db.execute(`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10600)
    INSERT INTO audit_event (at, action, subject) SELECT ${NOON}, 'a.b', 'c' FROM n`);
  expect([1, 2, 3].map(() => db.now(() => dropOldChanges(NOON)))).toEqual([500, 100, 0]);
  expect(db.prepare("SELECT min(id), max(id) FROM audit_event").raw().get()).toEqual([601, 10_600]);
});

test("changes older than 400 days go", () => {
  const db = temporaryDatabase();
  db.now(() => recordChange(ANA, CHANGE, NOON - 1));
  db.now(() => recordChange(ANA, CHANGE, NOON));
  expect(db.now(() => dropOldChanges(NOON + 400 * DAY))).toBe(1);
  expect(db.now(() => listChanges(10)).map(({ at }) => at)).toEqual([NOON]);
});
