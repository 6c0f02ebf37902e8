import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { moveToNewName } from "../../src/database/sqlite/new-name.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

test("a file gets a name that is free, and never one that something got meanwhile", () => {
  const folder = temporaryFolder();
  const [first, second, target] = ["first", "second", "target"].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  writeFileSync(first, "first");
  writeFileSync(second, "second");
  moveToNewName(first, target);
  expect(existsSync(first)).toBe(false);
  expect(() => moveToNewName(second, target)).toThrow(/exists already/);
  expect([readFileSync(target, "utf8"), readFileSync(second, "utf8")]).toEqual(["first", "second"]);
});
