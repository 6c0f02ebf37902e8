import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { findFloatingSteps } from "./floating-steps.ts";

const CONFIGURATION = fileURLToPath(new URL("../../tsconfig.json", import.meta.url));

/** The test checks the types of all sources, which takes seconds even on a machine that does nothing else. */
const CHECK_TIMEOUT_MS = 180_000;

test("steps that are called are run: none is made and dropped", { timeout: CHECK_TIMEOUT_MS }, () => {
  const checked: string[] = [];
  const isOurs = (file: string): boolean => {
    const is = /\/(?:src|test|scripts)\//.test(file) && !/node_modules/.test(file);
    if (is) checked.push(file);
    return is;
  };
  expect(findFloatingSteps(CONFIGURATION, isOurs)).toEqual([]);
  expect(checked.length).toBeGreaterThan(1000);
});

test("a dropped call of steps is found, and one behind yield* is not", () => {
  const folder = temporaryFolder();
  const file = join(folder, "planted.ts");
  writeFileSync(
    file,
    `import { expect } from "vitest";
     function* store(): Generator<string, void, unknown> { yield "x"; }
     export function* good(): Generator<string, void, unknown> { yield* store(); }
     export function bad(): void { expect(1).toBe(1); store(); }`,
  );
  const configuration = join(folder, "tsconfig.json");
  writeFileSync(configuration, JSON.stringify({ extends: CONFIGURATION, include: [file] }));
  const found = findFloatingSteps(configuration, (name) => name === file);
  expect(found).toEqual([`${file}:4: store() runs nothing; put yield* before it`]);
});
