import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Target } from "../executable.ts";

/** The files that name the packages of a tree. */
const PACKAGE_LISTS = ["package.json", "package-lock.json", ".npmrc"] as const;

/** Installs a platform's packages as the lock file of a tree names them, on any machine. */
export function installPackages(tree: string, target: Target, folder: string): void {
  copyLists(tree, folder);
  const [os = "", cpu = ""] = target.split("-");
  const libc = os === "linux" ? ["--libc=glibc"] : [];
  const install = ["ci", "--omit=dev", `--os=${os}`, `--cpu=${cpu}`, ...libc, "--no-audit", "--no-fund"];
  execFileSync("npm", install, { cwd: folder, stdio: ["ignore", "ignore", "inherit"] });
}

/**
 * Copies the packages that {@link installPackages} has installed into another folder. The files are hard links if possible, so they must
 * only be read.
 */
export function copyPackages(tree: string, installed: string, folder: string): void {
  copyLists(tree, folder);
  const copy = 'cp -a --link "$1" "$2" 2>/dev/null || { rm -rf "$2/node_modules" && cp -a "$1" "$2"; }';
  execFileSync("sh", ["-c", copy, "sh", join(installed, "node_modules"), folder]);
}

function copyLists(tree: string, folder: string): void {
  mkdirSync(folder, { recursive: true });
  for (const name of PACKAGE_LISTS) copyFileSync(join(tree, name), join(folder, name));
}
