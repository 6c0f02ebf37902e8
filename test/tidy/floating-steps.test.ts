import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ts } from "@ts-morph/common";
import { expect, test } from "vitest";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { findFloatingSteps } from "./floating-steps.ts";

const TOP = fileURLToPath(new URL("../..", import.meta.url));

/** The test checks the types of all sources, which takes seconds even on a machine that does nothing else. */
const CHECK_TIMEOUT_MS = 180_000;

function programOf(files: readonly string[]): ts.Program {
  const { config } = ts.readConfigFile(join(TOP, "tsconfig.json"), ts.sys.readFile.bind(ts.sys)) as {
    config: unknown;
  };
  const { fileNames, options } = ts.parseJsonConfigFileContent(config, ts.sys, TOP);
  return ts.createProgram(files.length > 0 ? files : fileNames, { ...options, noEmit: true });
}

test("steps that are called are run: none is made and dropped", { timeout: CHECK_TIMEOUT_MS }, () => {
  const isOurs = (file: string): boolean =>
    /\/(?:src|test|scripts)\//.test(file) && !/node_modules/.test(file);
  expect(findFloatingSteps(programOf([]), isOurs)).toEqual([]);
});

test("a dropped call of steps is found, and one behind yield* is not", () => {
  const file = join(temporaryFolder(), "planted.ts");
  writeFileSync(
    file,
    `import { expect } from "vitest";
     function* store(): Generator<string, void, unknown> { yield "x"; }
     export function* good(): Generator<string, void, unknown> { yield* store(); }
     export function bad(): void { expect(1).toBe(1); store(); }`,
  );
  const found = findFloatingSteps(programOf([file]), (name) => name === file);
  expect(found).toEqual([`${file}:4: store(); runs nothing; put yield* before it`]);
});
