import { execFileSync, spawn, spawnSync, type SpawnSyncReturns } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { memoryFolder } from "../support/memory-folder.ts";
import { until } from "../support/until.ts";
import { ENVIRONMENT } from "./bare-systems.ts";
import { releaseLayer } from "./made-release.ts";

/** A bare Debian in a folder. */
export interface DebianRoot {
  readonly path: string;
  /** Runs a shell script in it, with nothing of this machine's environment. */
  run(script: string, input?: string): SpawnSyncReturns<string>;
  /** What it printed on both streams. @throws Error unless the script ends with 0. */
  mustRun(script: string, input?: string): string;
  write(path: string, content: string, mode?: number): void;
}

/** A system that begins as a bare one with the releases below /srv, and is gone after the test. */
export function copyDebian(source: string): DebianRoot {
  const folder = mkdtempSync(join(memoryFolder() ?? tmpdir(), "formsvc-root-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, "root");
  mkdirSync(path);
  const layers = [releaseLayer, source];
  if (!layOver(layers, folder, path))
    for (const layer of layers.toReversed()) execFileSync("cp", ["-a", "--reflink=auto", `${layer}/.`, path]);
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
 * Shows layers at a path, the first on top, and keeps there what a test changes of them: that is made at once, while a copy is thousands
 * of files.
 * False if this machine's kernel or its rights do not allow it.
 */
function layOver(layers: readonly string[], folder: string, path: string): boolean {
  const [upper, work] = [join(folder, "upper"), join(folder, "work")];
  for (const made of [upper, work]) mkdirSync(made);
  // What is at the path has this mode.
  chmodSync(upper, 0o755);
  const options = `lowerdir=${layers.join(":")},upperdir=${upper},workdir=${work}`;
  if (spawnSync("mount", ["-t", "overlay", "overlay", "-o", options, path]).status !== 0) return false;
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
