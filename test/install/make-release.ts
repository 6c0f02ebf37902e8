import { execFileSync, spawn } from "node:child_process";
import { cpSync, existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { collect } from "../support/program.ts";

export const repository = fileURLToPath(new URL("../..", import.meta.url));

function git(folder: string, ...words: readonly string[]): string {
  return execFileSync("git", ["-C", folder, ...words], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
}

/** Whether this clone has a commit: one without history has only its own. */
export function hasCommit(commit: string): boolean {
  try {
    git(repository, "cat-file", "-e", `${commit}^{commit}`);
    return true;
  } catch {
    return false;
  }
}

/** Clones this repository, with what is not committed yet if no commit is named. */
export function cloneTree(folder: string, commit: string | null): void {
  mkdirSync(dirname(folder), { recursive: true });
  git(repository, "clone", "--quiet", "--no-checkout", "--shared", repository, folder);
  git(folder, "checkout", "--quiet", "--detach", commit ?? git(repository, "rev-parse", "HEAD").trim());
  if (commit !== null) return;
  const changed = git(repository, "diff", "--name-only", "-z", "HEAD");
  const added = git(repository, "ls-files", "--others", "--exclude-standard", "-z");
  for (const name of `${changed}${added}`.split("\0").filter((each) => each !== "")) {
    const from = join(repository, name);
    if (existsSync(from)) cpSync(from, join(folder, name));
    else rmSync(join(folder, name));
  }
  // What `npm ci` would install.
  execFileSync("cp", ["-al", join(repository, "node_modules"), join(folder, "node_modules")]);
}

/** The variables of the process that makes a release; undefined takes one away. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Runs `npm run release` in a clone, and moves what it makes. @returns what it told. */
export async function runRelease(tree: string, release: string, env: Environment): Promise<string> {
  const words = ["-c", 'umask "$1" && exec npm run release', "sh", env["UMASK"] ?? "022"];
  const child = spawn("sh", words, {
    cwd: tree,
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const { code, stdout, stderr } = await collect(child);
  if (code !== 0) throw new Error(`npm run release ended with ${code}:\n${stdout}${stderr}`);
  mkdirSync(dirname(release), { recursive: true });
  renameSync(join(tree, "build/release"), release);
  rmSync(tree, { recursive: true, force: true });
  return `${stdout}${stderr}`;
}

/** Makes the release of a clone for Linux on x64 alone, by its own scripts. */
export async function startOldRelease(tree: string, release: string, version: string): Promise<void> {
  const script = fileURLToPath(new URL("./make-old-release.ts", import.meta.url));
  const words = [script, tree, release, version];
  const env = { ...process.env, RELEASE_SIGNING_KEY: "", RELEASE_GPG_KEY: "" };
  const child = spawn(process.execPath, words, { env, stdio: ["ignore", "ignore", "pipe"] });
  const { code, stderr } = await collect(child);
  if (code !== 0) throw new Error(`the old release ended with ${code}:\n${stderr}`);
}
