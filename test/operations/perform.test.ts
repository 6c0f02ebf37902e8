import { describe, expect, test } from "vitest";
import { z } from "zod";
import { listChanges } from "../../src/audit/audit-store.ts";
import { type Database, query } from "../../src/database/database.ts";
import { all, run } from "../../src/database/steps.ts";
import { FormsvcError } from "../../src/foundation/errors.ts";
import type { Actor } from "../../src/operations/actor.ts";
import { changed, operation } from "../../src/operations/operation.ts";
import { insertAccountRows, listWorkspaces } from "../../src/workspaces/workspace-store.ts";
import { NOON } from "../support/fake-clock.ts";
import { ENGINES } from "../support/engines.ts";
import { performOn } from "../support/terminal.ts";
import { temporaryDatabase } from "../support/temporary-database.ts";

const spec = {
  name: "workspace.rename",
  summary: "Rename every workspace",
  access: "workspace:read",
  input: z.strictObject({ name: z.string(), fails: z.boolean().default(false) }),
  output: z.strictObject({ renamed: z.number() }),
} as const;

function* renameAll(name: string, fails: boolean) {
  const renamed = yield* run(query.updateTable("workspace").set({ name }));
  if (fails) throw new FormsvcError("conflict", "not today");
  return changed({ renamed }, { subject: name, workspaceId: null, detail: null });
}

const inOne = operation({
  ...spec,
  kind: "write",
  *run(_context, { name, fails }) {
    return yield* renameAll(name, fails);
  },
});

const afterWork = operation({
  ...spec,
  kind: "write",
  async run({ transact }, { name, fails }) {
    await Promise.resolve();
    return transact(() => renameAll(name, fails));
  },
});

const inSeveral = operation({
  ...spec,
  kind: "danger",
  async *run({ transact }, { name, fails }) {
    const { renamed } = await transact(() => renameAll(`${name} 1`, false));
    yield { done: 1, total: 2 };
    await transact(() => renameAll(`${name} 2`, fails));
    yield { done: 2, total: 2 };
    return { renamed };
  },
});

const names = async (db: Database): Promise<string[]> =>
  (await db.read(() => listWorkspaces())).map(({ name }) => name);

async function subjects(db: Database): Promise<string[]> {
  return (await db.read(() => listChanges(10))).map(({ subject }) => subject).toReversed();
}

describe.each(ENGINES)("on $name", ({ temporary }) => {
  async function bench(): Promise<Database> {
    const db = await temporary();
    await db.transaction(() => insertAccountRows("ada@example.com", NOON));
    return db;
  }

  test.each([
    ["one transaction", inOne],
    ["a transaction after other work", afterWork],
  ])("an operation of %s is recorded with what it changes, or not at all", async (_what, rename) => {
    const db = await bench();
    await expect(performOn(db, rename, { name: "Bakery", fails: true })).rejects.toThrow("not today");
    expect([await names(db), await subjects(db)]).toEqual([["ada"], []]);
    expect(await performOn(db, rename, { name: "Bakery" })).toEqual({ renamed: 1 });
    expect(await names(db)).toEqual(["Bakery"]);
    expect(await db.read(() => listChanges(10))).toMatchObject([
      { action: "workspace.rename", subject: "Bakery", actor: { terminalUser: "ada" }, at: NOON },
    ]);
  });

  test("long work records each transaction, tells how far it is, and keeps what it did before it failed", async () => {
    const db = await bench();
    const told: number[] = [];
    const onProgress = async ({ done }: { done: number }): Promise<void> => void told.push(done);
    const renaming = performOn(db, inSeveral, { name: "Bakery", fails: true }, { onProgress });
    await expect(renaming).rejects.toThrow("not today");
    expect([told, await names(db), await subjects(db)]).toEqual([[1], ["Bakery 1"], ["Bakery 1"]]);
    await performOn(db, inSeveral, { name: "Shop" }, { onProgress });
    expect([told, await names(db)]).toEqual([[1, 1, 2], ["Shop 2"]]);
    expect(await subjects(db)).toEqual(["Bakery 1", "Shop 1", "Shop 2"]);
  });

  test("a guard sees the rows of the transaction, and what it throws leaves them as they were", async () => {
    const db = await bench();
    const refuse = function* () {
      const [first] = yield* listWorkspaces();
      throw new FormsvcError("conflict", `it is ${first?.name} now`);
    };
    for (const rename of [inOne, afterWork, inSeveral])
      await expect(performOn(db, rename, { name: "Bakery" }, { guard: refuse })).rejects.toThrow(
        "it is ada now",
      );
    expect([await names(db), await subjects(db)]).toEqual([["ada"], []]);
  });
});

test("whoever writes is named in the record, whatever the door", async () => {
  const db = temporaryDatabase();
  const { account } = db.now(() => insertAccountRows("ada@example.com", NOON));
  const ada = { accountId: account.id, email: account.email, isOperator: true };
  const actors: Actor[] = [
    { kind: "account", ...ada },
    { kind: "token", tokenId: "tok_1", name: "CI", account: ada, scopes: ["workspace:read"], reach: null },
    { kind: "server" },
  ];
  for (const actor of actors) await performOn(db, inOne, { name: actor.kind }, { actor });
  expect(db.now(() => listChanges(10)).map(({ subject, actor }) => [subject, actor])).toEqual([
    ["server", null],
    ["token", { tokenId: "tok_1", tokenName: "CI", account: { accountId: account.id, email: ada.email } }],
    ["account", { accountId: account.id, email: "ada@example.com" }],
  ]);
});

test("rights are looked at before the input, and nothing is done without them", async () => {
  const db = temporaryDatabase();
  db.now(() => insertAccountRows("ada@example.com", NOON));
  const token = {
    kind: "token",
    tokenId: "tok_1",
    name: "CI",
    account: null,
    scopes: [],
    reach: null,
  } as const;
  for (const actor of [token, { kind: "visitor" } as const]) {
    const renaming = performOn(db, inOne, { wrong: 1 } as never, { actor });
    await expect(renaming).rejects.toMatchObject({ code: "forbidden" });
  }
  expect(await names(db)).toEqual(["ada"]);
});

test("an input that is wrong is refused with each member that is, and nothing is done", async () => {
  const db = temporaryDatabase();
  let asked = 0;
  const never = operation({
    ...spec,
    kind: "write",
    *run() {
      asked += 1;
      return changed({ renamed: yield* run(query.updateTable("workspace").set({ name: "x" })) });
    },
  });
  const wrong = performOn(db, never, { name: 1, fails: "no", other: 1 } as never);
  await expect(wrong).rejects.toMatchObject({
    code: "invalid_request",
    message: expect.stringMatching(
      /^the input is wrong: name: .*; fails: .*; other: unknown member$/,
    ) as string,
    facts: { details: { other: "unknown member" } },
  });
  expect(asked).toBe(0);
});

test("the server is told after a write, also one that failed in the middle, and not after a read", async () => {
  const db = temporaryDatabase();
  db.now(() => insertAccountRows("ada@example.com", NOON));
  let told = 0;
  const door = { onChange: () => void (told += 1) };
  const read = operation({
    ...spec,
    kind: "read",
    *run() {
      return { renamed: (yield* all(query.selectFrom("workspace").select("id"))).length };
    },
  });
  expect(await performOn(db, read, { name: "" }, door)).toEqual({ renamed: 1 });
  expect(told).toBe(0);
  await performOn(db, inOne, { name: "Bakery" }, door);
  expect(told).toBe(1);
  await expect(performOn(db, inSeveral, { name: "Shop", fails: true }, door)).rejects.toThrow("not today");
  expect(told).toBe(2);
});

test("the server is not told of a write that was refused, and is told if nobody knows what became of its commit", async () => {
  const db = temporaryDatabase();
  db.now(() => insertAccountRows("ada@example.com", NOON));
  let told = 0;
  const door = { onChange: () => void (told += 1) };
  for (const refused of [inOne, afterWork])
    await expect(performOn(db, refused, { name: "Shop", fails: true }, door)).rejects.toThrow("not today");
  expect(told).toBe(0);
  const lost: Database = {
    ...db,
    async transaction(work) {
      await db.transaction(work);
      throw new FormsvcError("database_unusable", "the connection was lost");
    },
  };
  await expect(performOn(lost, inOne, { name: "Shop" }, door)).rejects.toThrow("the connection was lost");
  expect(told).toBe(1);
});
