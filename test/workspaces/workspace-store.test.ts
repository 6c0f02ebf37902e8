import { describe, expect, test } from "vitest";
import { createUsageCounter } from "../../src/workspaces/usage-counter.ts";
import {
  chooseWorkspace,
  createAccount,
  createWorkspace,
  getWorkspace,
  listAccounts,
  listWorkspaces,
  readUsage,
  setPlan,
} from "../../src/workspaces/workspace-store.ts";
import { NOON } from "../support/fake-clock.ts";
import { openForTest, temporaryDatabase } from "../support/temporary-database.ts";

const plans = {
  hobby: { monthlySubmissions: 250, endpoints: 3, customSpam: false },
  free: { monthlySubmissions: null, endpoints: null, customSpam: true },
};

function failing(code: string): Error {
  return expect.objectContaining({ code }) as Error;
}

describe("an account", () => {
  test("gets one Hobby workspace by itself", () => {
    const db = temporaryDatabase();
    const { account, workspace } = db.now(() => createAccount(" ana@example.org ", NOON));
    expect(account).toMatchObject({ email: "ana@example.org", createdAt: NOON });
    expect(account.id).toMatch(/^acct_/);
    expect(workspace).toMatchObject({ accountId: account.id, name: "ana", plan: "hobby" });
    expect(db.now(() => listWorkspaces())).toEqual([workspace]);
  });

  test("of the same address, in whatever letters, is made once", () => {
    const db = temporaryDatabase();
    db.now(() => createAccount("ana@example.org", NOON));
    expect(() => db.now(() => createAccount("ANA@Example.ORG", NOON))).toThrow(failing("already_exists"));
    expect(db.now(() => listAccounts())).toHaveLength(1);
    expect(db.now(() => listWorkspaces())).toHaveLength(1);
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
  ])("of %j is refused", (email) => {
    const db = temporaryDatabase();
    if (email.trim() !== "a@b")
      expect(() => db.now(() => createAccount(email, NOON))).toThrow(failing("usage"));
    expect(db.now(() => listAccounts())).toEqual([]);
  });
});

describe("choosing a workspace", () => {
  test("creates the first one in an empty database, takes the only one, and asks if there are several", () => {
    const db = temporaryDatabase();
    const choose = (reference: string | null) => db.now(() => chooseWorkspace(reference, NOON));
    const first = choose(null);
    expect(choose(null)).toEqual(first);
    const second = db.now(() => createWorkspace("Second", null, NOON));
    expect(() => choose(null)).toThrow(failing("ambiguous"));
    expect(choose("Second")).toEqual(second);
    expect(choose(first.id)).toEqual(first);
    expect(() => choose("Third")).toThrow(failing("not_found"));
  });

  test("by a name that two have is ambiguous", () => {
    const db = temporaryDatabase();
    db.now(() => createWorkspace("Same", null, NOON));
    db.now(() => createWorkspace("Same", null, NOON));
    expect(() => db.now(() => getWorkspace("Same"))).toThrow(failing("ambiguous"));
  });
});

test("a further workspace needs its account named if there are several", () => {
  const db = temporaryDatabase();
  const ana = db.now(() => createAccount("ana@example.org", NOON)).account;
  db.now(() => createAccount("ben@example.org", NOON));
  expect(() => db.now(() => createWorkspace("W", null, NOON))).toThrow(failing("ambiguous"));
  expect(db.now(() => createWorkspace("W", "Ana@example.org", NOON)).accountId).toBe(ana.id);
  expect(db.now(() => createWorkspace("V", ana.id, NOON))).toMatchObject({
    accountId: ana.id,
    plan: "hobby",
  });
  expect(() => db.now(() => createWorkspace("W", "cleo@example.org", NOON))).toThrow(failing("not_found"));
});

test("a plan that is not configured is refused, names the ones that are, and changes nothing", () => {
  const db = temporaryDatabase();
  const { workspace } = db.now(() => createAccount("ana@example.org", NOON));
  for (const plan of ["gold", "", "constructor", "__proto__"]) {
    expect(() => db.now(() => setPlan(workspace.id, plan, plans))).toThrow(/hobby, free/);
  }
  expect(db.now(() => getWorkspace(workspace.id)).plan).toBe("hobby");
  expect(db.now(() => setPlan(workspace.id, "free", plans)).plan).toBe("free");
  expect(() => db.now(() => setPlan("nobody", "free", plans))).toThrow(failing("not_found"));
});

test("a plan is set without naming the workspace if there is exactly one", () => {
  const db = temporaryDatabase();
  const set = (plan: string) => db.now(() => setPlan(null, plan, plans));
  expect(() => set("free")).toThrow(failing("not_found"));
  const { workspace } = db.now(() => createAccount("ana@example.org", NOON));
  expect(set("free")).toMatchObject({ id: workspace.id, plan: "free" });
  db.now(() => createWorkspace("Second", null, NOON));
  expect(() => set("hobby")).toThrow(failing("ambiguous"));
  expect(db.now(() => getWorkspace(workspace.id)).plan).toBe("free");
});

test("usage says what is used, the plan's limit and what remains, never less than nothing", () => {
  const db = temporaryDatabase();
  const { workspace } = db.now(() => createAccount("ana@example.org", NOON));
  const usage = (plan: string) => db.now(() => readUsage({ ...workspace, plan }, "2026-06", plans));
  expect(usage("hobby")).toEqual({
    workspaceId: workspace.id,
    plan: "hobby",
    month: "2026-06",
    used: 0,
    limit: 250,
    remaining: 250,
  });
  db.execute(`INSERT INTO usage VALUES ('${workspace.id}', '2026-06', 300)`);
  expect(usage("hobby")).toMatchObject({ used: 300, limit: 250, remaining: 0 });
  expect(usage("free")).toMatchObject({ used: 300, limit: null, remaining: null });
  expect(db.now(() => readUsage(workspace, "2026-07", plans)).used).toBe(0);
});

test("the counter's memory answers until it is told to forget, and the table always decides", () => {
  const db = temporaryDatabase();
  const { workspace } = db.now(() => createAccount("ana@example.org", NOON));
  const counter = createUsageCounter(db);
  expect(counter.estimate(workspace.id, "2026-06")).toBe(0);
  openForTest(db.path).execute(`INSERT INTO usage VALUES ('${workspace.id}', '2026-06', 5)`);
  expect(counter.estimate(workspace.id, "2026-06")).toBe(0);
  expect(counter.read(workspace.id, "2026-06")).toBe(5);
  counter.forget();
  expect(counter.estimate(workspace.id, "2026-06")).toBe(5);
  expect(counter.estimate(workspace.id, "2026-07")).toBe(0);
  counter.write(workspace.id, "2026-06", 6);
  expect(counter.read(workspace.id, "2026-06")).toBe(6);
});
