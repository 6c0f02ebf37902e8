import { describe, expect, test } from "vitest";
import type { Statement } from "../../src/database/steps.ts";
import { createUsageCounter } from "../../src/workspaces/usage-counter.ts";
import {
  chooseWorkspace,
  insertAccountRows,
  insertWorkspaceRow,
  findAccountByEmail,
  getWorkspace,
  listAccounts,
  listWorkspaces,
  updatePlanRow,
} from "../../src/workspaces/workspace-store.ts";
import { readUsage } from "../../src/workspaces/usage-store.ts";
import { NOON } from "../support/fake-clock.ts";
import { ENGINES, write } from "../support/engines.ts";
import { temporaryDatabase } from "../support/temporary-database.ts";

const plans = {
  hobby: { monthlySubmissions: 250, endpoints: 3, customSpam: false },
  free: { monthlySubmissions: null, endpoints: null, customSpam: true },
};

function failing(code: string): Error {
  return expect.objectContaining({ code }) as Error;
}

describe.each(ENGINES)("on $name", ({ temporary }) => {
  describe("an account", () => {
    test("gets one Hobby workspace by itself", async () => {
      const db = await temporary();
      const { account, workspace } = await db.transaction(() => insertAccountRows(" ana@example.org ", NOON));
      expect(account).toMatchObject({ email: "ana@example.org", createdAt: NOON });
      expect(account.id).toMatch(/^acct_/);
      expect(workspace).toMatchObject({ accountId: account.id, name: "ana", plan: "hobby" });
      expect(await db.transaction(() => listWorkspaces())).toEqual([workspace]);
    });

    test("of the same address, in whatever case, is made once", async () => {
      const db = await temporary();
      await db.transaction(() => insertAccountRows("ana@example.org", NOON));
      await expect(db.transaction(() => insertAccountRows("ANA@Example.ORG", NOON))).rejects.toThrow(
        failing("already_exists"),
      );
      expect(await db.transaction(() => listAccounts())).toHaveLength(1);
      expect(await db.transaction(() => listWorkspaces())).toHaveLength(1);
    });

    test.each([
      "",
      "ana",
      "@",
      "a@",
      "@b",
      "a b@c",
      "a@b@c",
      "a@b\n",
      "a\u0000@b",
      `${"a".repeat(250)}@b.example`,
    ])("of %j is refused", async (email) => {
      const db = await temporary();
      if (email.trim() !== "a@b")
        await expect(db.transaction(() => insertAccountRows(email, NOON))).rejects.toThrow(failing("usage"));
      expect(await db.transaction(() => listAccounts())).toEqual([]);
    });
  });

  describe("choosing a workspace", () => {
    test("creates the first one in an empty database, takes the only one, and asks if there are several", async () => {
      const db = await temporary();
      const choose = (reference: string | null) => db.transaction(() => chooseWorkspace(reference, NOON));
      const first = await choose(null);
      expect(await choose(null)).toEqual(first);
      const second = await db.transaction(() => insertWorkspaceRow("Second", null, NOON));
      await expect(choose(null)).rejects.toThrow(failing("ambiguous"));
      expect(await choose("Second")).toEqual(second);
      expect(await choose(first.id)).toEqual(first);
      await expect(choose("Third")).rejects.toThrow(failing("not_found"));
    });

    test("by a name that two have is ambiguous", async () => {
      const db = await temporary();
      await db.transaction(() => insertWorkspaceRow("Same", null, NOON));
      await db.transaction(() => insertWorkspaceRow("Same", null, NOON));
      await expect(db.transaction(() => getWorkspace("Same"))).rejects.toThrow(failing("ambiguous"));
    });
  });

  test("a further workspace needs its account named if there are several", async () => {
    const db = await temporary();
    const ana = (await db.transaction(() => insertAccountRows("ana@example.org", NOON))).account;
    await db.transaction(() => insertAccountRows("ben@example.org", NOON));
    await expect(db.transaction(() => insertWorkspaceRow("W", null, NOON))).rejects.toThrow(
      failing("ambiguous"),
    );
    expect((await db.transaction(() => insertWorkspaceRow("W", "Ana@example.org", NOON))).accountId).toBe(
      ana.id,
    );
    expect(await db.transaction(() => insertWorkspaceRow("V", ana.id, NOON))).toMatchObject({
      accountId: ana.id,
      plan: "hobby",
    });
    await expect(db.transaction(() => insertWorkspaceRow("W", "cleo@example.org", NOON))).rejects.toThrow(
      failing("not_found"),
    );
  });

  test("a plan that is not configured is refused, names the ones that are, and changes nothing", async () => {
    const db = await temporary();
    const { workspace } = await db.transaction(() => insertAccountRows("ana@example.org", NOON));
    for (const plan of ["gold", "", "constructor", "__proto__"]) {
      await expect(db.transaction(() => updatePlanRow(workspace.id, plan, plans))).rejects.toThrow(
        /hobby, free/,
      );
    }
    expect((await db.transaction(() => getWorkspace(workspace.id))).plan).toBe("hobby");
    expect((await db.transaction(() => updatePlanRow(workspace.id, "free", plans))).plan).toBe("free");
    await expect(db.transaction(() => updatePlanRow("nobody", "free", plans))).rejects.toThrow(
      failing("not_found"),
    );
  });

  test("a plan is set without naming the workspace if there is exactly one", async () => {
    const db = await temporary();
    const set = (plan: string) => db.transaction(() => updatePlanRow(null, plan, plans));
    await expect(set("free")).rejects.toThrow(failing("not_found"));
    const { workspace } = await db.transaction(() => insertAccountRows("ana@example.org", NOON));
    expect(await set("free")).toMatchObject({ id: workspace.id, plan: "free" });
    await db.transaction(() => insertWorkspaceRow("Second", null, NOON));
    await expect(set("hobby")).rejects.toThrow(failing("ambiguous"));
    expect((await db.transaction(() => getWorkspace(workspace.id))).plan).toBe("free");
  });

  test("usage says what is used, the plan's limit and what remains, never less than nothing", async () => {
    const db = await temporary();
    const { workspace } = await db.transaction(() => insertAccountRows("ana@example.org", NOON));
    const usage = (plan: string) => db.transaction(() => readUsage({ ...workspace, plan }, "2026-06", plans));
    expect(await usage("hobby")).toEqual({
      workspaceId: workspace.id,
      plan: "hobby",
      month: "2026-06",
      used: 0,
      limit: 250,
      remaining: 250,
    });
    await write(db, `INSERT INTO usage VALUES ('${workspace.id}', '2026-06', 300)`);
    expect(await usage("hobby")).toMatchObject({ used: 300, limit: 250, remaining: 0 });
    expect(await usage("free")).toMatchObject({ used: 300, limit: null, remaining: null });
    expect((await db.transaction(() => readUsage(workspace, "2026-07", plans))).used).toBe(0);
  });
});

test.each(ENGINES)(
  "on $name, the counter's memory answers until it is told to forget",
  async ({ temporary }) => {
    const db = await temporary();
    const { workspace } = await db.transaction(() => insertAccountRows("ana@example.org", NOON));
    const counter = createUsageCounter(db);
    expect(await counter.estimate(workspace.id, "2026-06")).toBe(0);
    await write(db, `INSERT INTO usage VALUES ('${workspace.id}', '2026-06', 5)`);
    expect(counter.estimate(workspace.id, "2026-06")).toBe(0);
    counter.forget();
    expect(await counter.estimate(workspace.id, "2026-06")).toBe(5);
    expect(await counter.estimate(workspace.id, "2026-07")).toBe(0);
  },
);

test("a batch that is counted while the counter asks the database is not forgotten", async () => {
  const db = temporaryDatabase();
  const { workspace } = await db.transaction(() => insertAccountRows("ana@example.org", NOON));
  const counter = createUsageCounter(db);
  const asked = counter.estimate(workspace.id, "2026-06");
  counter.remember(workspace.id, "2026-06", 7);
  expect(await asked).toBe(7);
  expect(counter.estimate(workspace.id, "2026-06")).toBe(7);
});

test("an account is found by its address over an index, however many accounts there are", () => {
  const db = temporaryDatabase();
  const statement = findAccountByEmail("Ada@Example.com").next().value as Statement;
  const { sql, parameters } = statement.built.compile();
  const plan = db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...parameters);
  expect(JSON.stringify(plan)).toContain("USING INDEX account_by_email");
});
