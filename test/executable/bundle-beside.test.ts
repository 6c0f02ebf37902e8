import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { bundleBeside } from "../../scripts/bundle-beside.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/** Bundles a script of two files, as the build of one platform in its own folder. */
async function bundle(color: string) {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "src"));
  writeFileSync(join(folder, "src/main.js"), 'import { color } from "./color.js"; module.exports = color;');
  writeFileSync(join(folder, "src/color.js"), `export const color = ${JSON.stringify(color)};`);
  const inputs = new Set<string>();
  const options = { bundle: true, format: "cjs" } as const;
  const own = { entryPoints: [join(folder, "src/main.js")] };
  return { script: await bundleBeside("two-files", { folder, options, inputs }, own), inputs };
}

test("platforms with the same files share a script, and one with a changed file gets its own", async () => {
  const first = await bundle("red");
  const second = await bundle("red");
  expect(second.script).toBe(first.script);
  expect([...second.inputs].sort()).toEqual(["src/color.js", "src/main.js"]);
  const third = await bundle("blue");
  expect(third.script.text).toContain('"blue"');
  expect(third.script.text).not.toContain('"red"');
});
