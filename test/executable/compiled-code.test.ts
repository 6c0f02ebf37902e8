import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { packCompiled } from "../../scripts/compiled-code.ts";
import { RUNTIME_FLAGS } from "../../scripts/executable.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/** A server like the program's: it reads a part, changes flags when it has started, and ends at a signal. */
const SERVER = `const { getRawAsset } = require("node:sea");
function answer(request, response) { response.end("text of an answer"); }
function neverRuns() { return "text that no start needs"; }
function stop() { process.stdout.write("text of a stop"); process.exit(0); }
function start() {
  if (Buffer.from(getRawAsset("part")).toString() !== "a part") process.exit(1);
  process.on("SIGTERM", stop);
  require("node:http").createServer(answer).listen(Number(process.argv.at(-1)), "127.0.0.1", () => {
    require("node:v8").setFlagsFromString("--no-allocation-site-pretenuring");
  });
}
start();`;

/** Loads a text with compiled code, as the executable does. */
const LOAD = `const { readFileSync } = require("node:fs");
const [text, code] = process.argv.slice(1).map((path) => readFileSync(path));
const script = new (require("node:vm").Script)(text.latin1Slice(), { cachedData: code });
console.log(script.cachedDataRejected);`;

test("the executable has compiled code of what a server's start and stop run, which a new process takes", () => {
  const folder = temporaryFolder();
  const [script, part] = [join(folder, "script.cjs"), join(folder, "part")];
  writeFileSync(script, SERVER);
  writeFileSync(part, "a part");
  const { main, assets } = packCompiled(folder, script, { part });
  expect(assets["part"]).toBe(part);
  const [program = "", compiled = ""] = Object.entries(assets).flatMap(([name, path]) =>
    name === "part" ? [] : [path],
  );
  const code = readFileSync(compiled);
  for (const ran of ["text of an answer", "text of a stop"]) expect(code.includes(ran)).toBe(true);
  expect(code.includes("text that no start needs")).toBe(false);
  const loaded = (flags: readonly string[]): string =>
    execFileSync(process.execPath, [...flags, "--eval", LOAD, program, compiled], { encoding: "utf8" });
  expect(loaded(RUNTIME_FLAGS)).toBe("false\n");
  expect(loaded([...RUNTIME_FLAGS, "--no-allocation-site-pretenuring"])).toBe("true\n");
  expect(readFileSync(main, "utf8")).toContain("cachedData");
});
