import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { collect } from "./program.ts";
import { temporaryFolder } from "./temporary-folder.ts";

const runner = fileURLToPath(new URL("../../node_modules/vitest/vitest.mjs", import.meta.url));
const options = new URL("./second-try.ts", import.meta.url);

/** Three tests: one passes, one fails at the first try only, and one always fails. */
const THREE = `
  let tries = 0;
  test("is steady", () => {});
  describe("a group", () => test("needs another try", () => {
    tries += 1;
    expect(tries, "tried too seldom\\nwith seed 7").toBe(2);
  }));
  test("never passes", () => { throw new Error("broken"); });
`;

async function runThree(environment: Record<string, string>) {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "three.test.js"), THREE);
  writeFileSync(
    join(folder, "vitest.config.ts"),
    `import { secondTry } from ${JSON.stringify(options.href)};
     export default { test: { globals: true, watch: false, ...secondTry() } };`,
  );
  const child = spawn(process.execPath, [runner, "run", "--root", folder], {
    cwd: folder,
    env: { PATH: process.env["PATH"], NO_COLOR: "1", ...environment },
  });
  const { code, stdout, stderr } = await collect(child);
  return { code, stdout, failures: stderr.match(/FAIL .*/g) };
}

test("with TESTS_RETRY=1 a failed test is tried once more, and the end names each that passed only then, with its failure", async () => {
  const { code, stdout, failures } = await runThree({ TESTS_RETRY: "1" });
  expect({ code, failures }).toEqual({
    code: 1,
    failures: ["FAIL  three.test.js > never passes (initial run, 1st retry)"],
  });
  const [, list = ""] = stdout.split("Duration");
  expect(list).toMatch(
    /\nUnsteady: .*must be mended:\n  three\.test\.js > a group > needs another try\n    tried too seldom\n    with seed 7: expected 1 to be 2.*\n\n$/,
  );
});

test("without it no failed test is tried again", async () => {
  const { code, stdout, failures } = await runThree({});
  expect({ code, failures }).toEqual({
    code: 1,
    failures: ["FAIL  three.test.js > a group > needs another try", "FAIL  three.test.js > never passes"],
  });
  expect(stdout).not.toContain("Unsteady");
});
