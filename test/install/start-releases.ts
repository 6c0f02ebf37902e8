import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { TestProject } from "vitest/node";
import { collect } from "../support/program.ts";
import { repository } from "./make-release.ts";
import { canInstall, failureFile, markFile, releases } from "./made-release.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** What `markFile` holds once the releases of this run are made; null if this machine makes none. */
    releasesOf: string | null;
  }
}

/** What a release depends on. */
const SOURCES = ["src", "scripts", "migrations", "package.json", "package-lock.json", ".npmrc", "LICENSE"];
const MAKERS = [
  "make-release.ts",
  "made-release.ts",
  "make-releases.ts",
  "make-old-release.ts",
  "script-release.ts",
];

/**
 * Has the releases made once for all files of this project, while other tests run: each file waits for them in `await-releases.ts`.
 * They are kept for the next run if nothing that is in them has changed.
 */
export default function startReleases(project: TestProject): (() => Promise<void>) | undefined {
  const own = canInstall ? hashFiles([...SOURCES, ...MAKERS.map((name) => `test/install/${name}`)]) : null;
  project.provide("releasesOf", own);
  if (own === null || (existsSync(markFile) && readFileSync(markFile, "utf8") === own)) return undefined;
  rmSync(releases, { recursive: true, force: true });
  mkdirSync(releases, { recursive: true });
  const script = fileURLToPath(new URL("./make-releases.ts", import.meta.url));
  // In a group of its own, which ends when nobody holds its input any more: with this run, however that ends.
  const child = spawn("nice", [process.execPath, script, own], {
    detached: true,
    stdio: ["pipe", "ignore", "pipe"],
  });
  const ended = tellEnd(child);
  return async () => {
    child.stdin?.end();
    await ended;
  };
}

async function tellEnd(child: ChildProcess): Promise<void> {
  const { code, stderr } = await collect(child);
  process.stderr.write(stderr);
  if (code !== 0) writeFileSync(failureFile, stderr);
}

/** Of the names and contents of the files in these folders, as they are now. */
function hashFiles(folders: readonly string[]): string {
  const list = [
    "-C",
    repository,
    "ls-files",
    "-z",
    "--cached",
    "--others",
    "--exclude-standard",
    "--",
    ...folders,
  ];
  const names = execFileSync("git", list, { encoding: "utf8" }).split("\0");
  const hash = createHash("sha256");
  for (const name of names.filter((each) => each !== "" && existsSync(join(repository, each))).sort())
    hash.update(`${name}\0`).update(readFileSync(join(repository, name)));
  return hash.digest("hex");
}
