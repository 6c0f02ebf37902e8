import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { newest } from "../support/newest.ts";
import { executable } from "../support/program.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const SOURCES = [
  "src",
  "migrations",
  "scripts/build.ts",
  "scripts/executable.ts",
  "scripts/bundle-beside.ts",
  "scripts/release/compress.ts",
  "scripts/smaller-script.ts",
  "scripts/dashboard-script.ts",
  "scripts/log-thread-script.ts",
  "scripts/link-atomic.ts",
  "package.json",
  "package-lock.json",
];

/** Builds the executable when a source is newer, once for all test files, so that no test looks at an old one. */
export default function buildIfStale(): void {
  const builtAt = newest(executable);
  if (SOURCES.every((source) => newest(`${root}/${source}`) < builtAt)) return;
  const { status, stderr } = spawnSync(process.execPath, ["scripts/build.ts"], {
    cwd: root,
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`the build failed:\n${stderr}`);
}
