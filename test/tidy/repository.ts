import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { SourceFile } from "./source-rules.ts";

export const root = fileURLToPath(new URL("../..", import.meta.url));

/** Lists every file that belongs to the repository or will be added to it, without those that .gitignore names. */
export function listFiles(): readonly string[] {
  const listed = spawnSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], {
    cwd: root,
    encoding: "utf8",
  });
  if (listed.status !== 0) throw new Error(`these tests need a git checkout: ${listed.stderr}`);
  return [...new Set(listed.stdout.split("\n").filter(Boolean))].filter((path) =>
    existsSync(join(root, path)),
  );
}

/** Reads a file. A picture has no text. */
export function readText(path: string): SourceFile {
  return { path, text: path.endsWith(".png") ? "" : readFileSync(join(root, path), "utf8") };
}

export function modeOf(path: string): number {
  return statSync(join(root, path)).mode;
}
