import { expect, test } from "vitest";
import { OPERATIONS } from "../../src/api/all-operations.ts";
import type { AnyOperation } from "../../src/operations/operation.ts";
import { LOCAL_COMMANDS, LOCAL_WRITERS } from "./doors.ts";
import { listFiles, readText } from "./repository.ts";
import type { SourceFile } from "./source-rules.ts";
import { findWriters, isOperation, leadsTo, readSymbols } from "./symbols.ts";

const files = listFiles()
  .filter((path) => /^src\/.*(?<!\.generated)\.ts$/.test(path))
  .map(readText);
const symbols = readSymbols(files);
type Symbols = typeof symbols;

/** The folders through which people and programs reach the operations. */
const DOORS = /^src\/(?:cli|dashboard|api|mcp)\//;
/** The folders that are not features: they wire the features, run operations, or know rows of every kind. */
const NO_FEATURES = /^src\/(?:api|app|cli|dashboard|database|mcp|operations|server)\//;

/** An operation, or the operations of one kind by their verbs. */
type Made = AnyOperation | Readonly<Record<string, AnyOperation>>;

function operationsIn(made: Made = {}): readonly AnyOperation[] {
  return typeof made.name === "string"
    ? [made as AnyOperation]
    : Object.values(made as Record<string, AnyOperation>);
}

/** Finds the functions of features that change rows and that a door uses. */
function writersOfDoors(all: Symbols): string[] {
  const writers = findWriters(all);
  const used = [...all.values()].filter(({ path }) => DOORS.test(path)).flatMap(({ uses }) => uses);
  return [...new Set(used)].filter((id) => writers.has(id) && !NO_FEATURES.test(id)).toSorted();
}

/** Finds the commands that lead to no operation, like `key-commands#revoke`. */
function commandsWithoutOperation(all: Symbols): string[] {
  return [...all.values()]
    .filter(({ calls, uses }) => calls.has("command") && uses.includes("src/cli/command.ts#command"))
    .filter((symbol) => !leadsTo(all, symbol, isOperation))
    .map(({ id }) => id.replace(/^src\/cli\/commands\//, "").replace(".ts", ""))
    .toSorted();
}

/** Finds row functions that another folder imports. */
function strayRowFunctions(all: Symbols): string[] {
  const writers = findWriters(all);
  const folder = (id: string): string => id.split("/")[1] ?? "";
  return [...all.values()].flatMap(({ id, uses }) =>
    uses
      .filter((used) => /Rows?$/.test(used) && writers.has(used) && folder(used) !== folder(id))
      .map((used) => `${id} calls ${used}`),
  );
}

const plant = (path: string, text: string): SourceFile => ({ path, text });
const store = plant(
  "src/keys/key-store.ts",
  'export function* revokeKeyRow(id) { yield* run(query.updateTable("api_key")); }\nexport function* listKeys() {}',
);
const withOperation = plant(
  "src/keys/key-operations.ts",
  'import { revokeKeyRow } from "./key-store.ts";\nexport const revokeKey = operation({ *run() { yield* revokeKeyRow(1); } });',
);

test("commands and pages change rows by operations only", () => {
  expect(writersOfDoors(symbols)).toEqual(Object.keys(LOCAL_WRITERS).toSorted());
  const through = plant(
    "src/cli/commands/key-commands.ts",
    'import { revokeKey } from "../../keys/key-operations.ts";\nimport { listKeys } from "../../keys/key-store.ts";\nconst a = () => perform(revokeKey, listKeys());',
  );
  expect(writersOfDoors(readSymbols([store, withOperation, through]))).toEqual([]);
  const between = plant(
    "src/keys/verbs.ts",
    'import { revokeKeyRow } from "./key-store.ts";\nexport const withdraw = () => revokeKeyRow(1);',
  );
  const past = plant(
    "src/dashboard/key-page.ts",
    'import { withdraw as end } from "../keys/verbs.ts";\nexport function keyPages() { end(); }',
  );
  expect(writersOfDoors(readSymbols([store, between, past]))).toEqual(["src/keys/verbs.ts#withdraw"]);
});

test("a row function is called in the folder of its feature only", () => {
  expect(strayRowFunctions(symbols)).toEqual([]);
  const stray = plant(
    "src/mail/a.ts",
    'import { revokeKeyRow } from "../keys/key-store.ts";\nexport const a = () => revokeKeyRow(1);',
  );
  expect(strayRowFunctions(readSymbols([store, withOperation]))).toEqual([]);
  expect(strayRowFunctions(readSymbols([store, stray]))).toEqual([
    "src/mail/a.ts#a calls src/keys/key-store.ts#revokeKeyRow",
  ]);
});

test("every command is an operation, or is local for a reason", () => {
  expect(commandsWithoutOperation(symbols)).toEqual(Object.keys(LOCAL_COMMANDS).toSorted());
  const verb =
    'import { revokeKey } from "../../keys/key-operations.ts";\nimport { command } from "../command.ts";\nconst revoke = command({ action: end });';
  const direct = plant("src/cli/commands/key-commands.ts", `${verb}\nfunction end() { perform(revokeKey); }`);
  expect(commandsWithoutOperation(readSymbols([store, withOperation, direct]))).toEqual([]);
  const several = plant(
    "src/keys/key-operations.ts",
    'import { revokeKeyRow } from "./key-store.ts";\nexport const { list: listKeys, end: revokeKey } = recipientOperations({ end: revokeKeyRow });',
  );
  expect(commandsWithoutOperation(readSymbols([store, several, direct]))).toEqual([]);
  const without = plant("src/cli/commands/key-commands.ts", `${verb}\nfunction end() {}`);
  expect(commandsWithoutOperation(readSymbols([store, withOperation, without]))).toEqual([
    "key-commands#revoke",
  ]);
});

test("every operation is in the list, with a name of its own that is a noun and a verb", async () => {
  const listed = new Set(OPERATIONS);
  let found = 0;
  for (const { path, name } of [...symbols.values()].filter(isOperation)) {
    const module = (await import(/* @vite-ignore */ `../../${path}`)) as Record<string, Made>;
    const operations = operationsIn(module[name]);
    expect(operations, `${path}#${name}`).not.toEqual([]);
    for (const operation of operations)
      expect(listed, `${path}#${name} ${operation.name}`).toContain(operation);
    found += operations.length;
  }
  expect(found).toBe(OPERATIONS.length);
  const names = OPERATIONS.map(({ name }) => name);
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  expect(names.filter((name) => !/^[a-z]+\.[a-z]+(?:-[a-z]+)*$/.test(name))).toEqual([]);
});

test("every operation refuses members that it does not know, and says what it does without a full stop", () => {
  for (const { name, input, summary } of OPERATIONS) {
    expect(
      input.safeParse({ surely_unknown: 1 }).error?.issues.map(({ code }) => code),
      name,
    ).toContain("unrecognized_keys");
    expect(summary, name).toMatch(/^[A-Z].*[^.]$/);
  }
});
