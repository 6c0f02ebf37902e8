import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { bundleOnce } from "../../scripts/bundle-once.ts";
import type { Target } from "../../scripts/targets.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

interface Files {
  readonly color?: string;
  readonly word?: string;
  readonly driver?: string;
}

/** Bundles a program in the folder of one platform. @returns whose program it got */
async function bundle(target: Target, { color = "red", word = "one", driver = "" }: Files, own: string) {
  const folder = temporaryFolder();
  const write = (name: string, content: string): void => {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  };
  write("src/main.ts", `export const color = "${color}";`);
  write("node_modules/words/index.js", word);
  const load = `module.exports = load(() => require('../prebuilds/${target}.node'));${driver}`;
  write(`node_modules/better-sqlite3/lib/${target}.js`, load);
  const made = { script: own, assets: {}, inputs: ["src/main.ts", "node_modules/words/index.js"] };
  const { script } = await bundleOnce({ folder, target }, async () => made);
  return script;
}

test("platforms with the same files share a program, and one with a changed file gets its own", async () => {
  expect(await bundle("linux-x64", {}, "first")).toBe("first");
  expect(await bundle("win32-x64", {}, "second")).toBe("first");
  expect(await bundle("win32-x64", { color: "blue" }, "third")).toBe("third");
  expect(await bundle("win32-x64", { word: "two" }, "fourth")).toBe("fourth");
  expect(await bundle("win32-x64", { driver: "other();" }, "fifth")).toBe("fifth");
  expect(await bundle("darwin-arm64", {}, "sixth")).toBe("first");
});

test("a driver that does not load the addon of its platform as it is named here stops the build", async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "src"));
  mkdirSync(join(folder, "node_modules/better-sqlite3/lib"), { recursive: true });
  writeFileSync(join(folder, "node_modules/better-sqlite3/lib/linux-x64.js"), "require('../other.node')");
  const program = { script: "", assets: {}, inputs: [] };
  await expect(bundleOnce({ folder, target: "linux-x64" }, async () => program)).rejects.toThrow(
    "lib/linux-x64.js does not load ../prebuilds/linux-x64.node once",
  );
});
