import { execFileSync, spawn, spawnSync, type SpawnSyncReturns } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { memoryFolder } from "../support/memory-folder.ts";
import { until } from "../support/until.ts";

/** The releases of Debian that packages are tried on. */
export const DEBIANS = ["bookworm", "trixie"] as const;
export type Debian = (typeof DEBIANS)[number];

const cache = join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "formsvc-tests");

/** A bare Debian in a folder. */
export interface DebianRoot {
  readonly path: string;
  /** Runs a shell script in it, with nothing of this machine's environment. */
  run(script: string, input?: string): SpawnSyncReturns<string>;
  /** What it printed on both streams. @throws Error unless the script ends with 0. */
  mustRun(script: string, input?: string): string;
  write(path: string, content: string, mode?: number): void;
}

const ENVIRONMENT = {
  PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
  HOME: "/root",
  DEBIAN_FRONTEND: "noninteractive",
};

/**
 * Makes a bare system (`debootstrap --variant=minbase`) once in the user's cache; null, and said aloud, if that cannot be had.
 * The mirror is the one that this machine's apt uses.
 */
export function prepareDebian(suite: Debian): string | null {
  const root = join(cache, suite);
  if (existsSync(root)) return root;
  const mirror = findMirror();
  const hasTool = spawnSync("debootstrap", ["--version"]).error === undefined;
  if (mirror === null || !hasTool || process.getuid?.() !== 0) {
    process.stderr.write(
      `SKIPPED: installing on Debian ${suite}: needs root, debootstrap and a mirror of Debian in apt's sources\n`,
    );
    return null;
  }
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, "making-"));
  const made = spawnSync("debootstrap", ["--variant=minbase", suite, folder, mirror], { encoding: "utf8" });
  if (made.status !== 0) {
    rmSync(folder, { recursive: true, force: true });
    process.stderr.write(
      `SKIPPED: installing on Debian ${suite}: debootstrap ended with ${made.status}: ${made.stderr.trim()}\n`,
    );
    return null;
  }
  execFileSync("chmod", ["755", folder]);
  renameSync(folder, root);
  return root;
}

/** Of the packages of Debian itself, not of its security updates. */
function findMirror(): string | null {
  const format = "$(ORIGIN) $(REPO_URI) $(RELEASE)";
  const { stdout } = spawnSync("apt-get", ["indextargets", "--format", format, "Created-By: Packages"], {
    encoding: "utf8",
  });
  return /^Debian (\S+\/debian\/) /m.exec(stdout)?.[1] ?? null;
}

/** A system that begins as a bare one, and is gone after the test. */
export function copyDebian(source: string): DebianRoot {
  const folder = mkdtempSync(join(memoryFolder() ?? tmpdir(), "formsvc-root-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, "root");
  mkdirSync(path);
  if (!layOver(source, folder, path)) execFileSync("cp", ["-a", "--reflink=auto", `${source}/.`, path]);
  const run: DebianRoot["run"] = (script, input = "") =>
    spawnSync("chroot", [path, "/bin/sh", "-c", script], { encoding: "utf8", input, env: ENVIRONMENT });
  return {
    path,
    run,
    mustRun(script, input) {
      const ran = run(script, input);
      if (ran.status !== 0) throw new Error(`${script}: exit ${ran.status}\n${ran.stdout}${ran.stderr}`);
      return `${ran.stdout}${ran.stderr}`;
    },
    write(name, content, mode = 0o644) {
      mkdirSync(join(path, name, ".."), { recursive: true });
      writeFileSync(join(path, name), content, { mode });
    },
  };
}

/**
 * Shows a bare system at a path, and keeps there what a test changes of it: that is made at once, while a copy is thousands of files.
 * False if this machine's kernel or its rights do not allow it.
 */
function layOver(source: string, folder: string, path: string): boolean {
  const [upper, work] = [join(folder, "upper"), join(folder, "work")];
  for (const made of [upper, work]) mkdirSync(made);
  // What is at the path has this mode.
  chmodSync(upper, 0o755);
  const layers = `lowerdir=${source},upperdir=${upper},workdir=${work}`;
  if (spawnSync("mount", ["-t", "overlay", "overlay", "-o", layers, path]).status !== 0) return false;
  onTestFinished(() => void execFileSync("umount", ["--lazy", path]));
  return true;
}

/** Serves in the root until the test ends, and waits until it takes posts. */
export async function serveIn(root: DebianRoot, command: string, port: number): Promise<void> {
  const child = spawn("chroot", [root.path, "/bin/sh", "-c", `exec ${command}`], {
    env: ENVIRONMENT,
    stdio: "ignore",
  });
  onTestFinished(async () => {
    child.kill("SIGKILL");
    if (child.exitCode === null) await new Promise((resolve) => child.once("exit", resolve));
  });
  await until(async () => {
    if (child.exitCode !== null) throw new Error(`${command}: ended with ${child.exitCode}`);
    return (await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => null))?.ok === true;
  });
}

export function readIn(root: DebianRoot, path: string): string {
  return readFileSync(join(root.path, path), "utf8");
}
