import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ONE_SCRIPT } from "../../scripts/executable.ts";
import { asAscii } from "../../scripts/smaller-script.ts";
import { newest } from "./newest.ts";
import { bundle } from "./program.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const SOURCES = [
  "src",
  "scripts/executable.ts",
  "scripts/smaller-script.ts",
  "package-lock.json",
  "test/support/bundle-program.ts",
];

/**
 * Bundles the sources when one is newer, once for all test files: a process of the bundle starts in a quarter of the processor time
 * of one of the sources. Packages with native code stay outside and are loaded from `node_modules`.
 */
export default async function bundleProgram(): Promise<void> {
  const bundledAt = newest(bundle);
  if (SOURCES.every((source) => newest(join(root, source)) < bundledAt)) return;
  const { build } = await import("esbuild");
  // Another run of the tests may be reading the old one.
  const fresh = `${bundle}.${process.pid}`;
  try {
    await build({
      ...ONE_SCRIPT,
      absWorkingDir: root,
      entryPoints: ["src/main.ts"],
      outfile: fresh,
      external: ["better-sqlite3", "@node-rs/argon2"],
      logLevel: "warning",
    });
    // Half as much to read for each process.
    writeFileSync(fresh, asAscii(readFileSync(fresh, "utf8")));
    renameSync(fresh, bundle);
  } finally {
    rmSync(fresh, { force: true });
  }
}
