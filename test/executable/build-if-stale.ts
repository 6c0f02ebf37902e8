import { spawnSync } from "node:child_process";
import { readdirSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { executable } from "../support/program.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const SOURCES = [
  "src",
  "migrations",
  "scripts/build.ts",
  "scripts/executable.ts",
  "scripts/link-atomic.ts",
  "package.json",
  "package-lock.json",
];

/** Builds the executable when a source is newer, once for all test files, so that no test looks at an old one. */
export default function buildIfStale(): void {
  const builtAt = statSync(executable, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  if (SOURCES.every((source) => newest(`${root}/${source}`) < builtAt)) return;
  const { status, stderr } = spawnSync(process.execPath, ["scripts/build.ts"], {
    cwd: root,
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`the build failed:\n${stderr}`);
}

function newest(path: string): number {
  const own = statSync(path);
  if (!own.isDirectory()) return own.mtimeMs;
  return Math.max(...readdirSync(path).map((name) => newest(`${path}/${name}`)), own.mtimeMs);
}
