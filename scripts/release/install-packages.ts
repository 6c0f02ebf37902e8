import { execFileSync } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import type { Target } from "../executable.ts";

/** The files that name the packages of a tree. */
const PACKAGE_LISTS = ["package.json", "package-lock.json", ".npmrc"] as const;

/**
 * Installs the packages of platforms as the lock file of a tree names them, on any machine.
 *
 * @param folderOf the folder for the packages of a platform
 */
export function installPackages(
  tree: string,
  platforms: readonly Target[],
  folderOf: (target: Target) => string,
): void {
  for (const target of platforms) mkdirSync(folderOf(target), { recursive: true });
  const [first] = platforms;
  if (first === undefined) return;
  // On the same disk, so that nothing is copied.
  const all = mkdtempSync(join(dirname(folderOf(first)), "packages-"));
  try {
    const native = installAll(tree, platforms, all);
    for (const [path, target] of native) move(path, all, `${all}/${target}`);
    for (const target of platforms) {
      copyPackages(tree, all, folderOf(target));
      for (const [path, of] of native) if (of === target) move(path, `${all}/${target}`, folderOf(target));
    }
  } finally {
    rmSync(all, { recursive: true });
  }
}

/**
 * Has npm install the packages of several platforms into one folder at once, because most of them are the same. For this, the lock file
 * there names the native packages of these platforms without their platform. The checksums stay.
 *
 * @returns the paths of the native packages, with their platforms
 */
function installAll(tree: string, platforms: readonly Target[], folder: string): ReadonlyMap<string, Target> {
  copyLists(tree, folder);
  const lock = JSON.parse(readFileSync(join(tree, "package-lock.json"), "utf8")) as Lock;
  const native = new Map<string, Target>();
  for (const [path, locked] of Object.entries(lock.packages)) {
    const target = platforms.find((each) => isFor(each, locked));
    if (locked.dev === true || target === undefined) continue;
    native.set(path, target);
    delete locked.os;
    delete locked.cpu;
    delete locked.libc;
  }
  writeFileSync(join(folder, "package-lock.json"), JSON.stringify(lock));
  const install = ["ci", "--omit=dev", "--no-audit", "--no-fund"];
  execFileSync("npm", install, { cwd: folder, stdio: ["ignore", "ignore", "inherit"] });
  // npm leaves out an optional package that it cannot fetch, or whose checksum is another one, and says nothing.
  for (const path of native.keys())
    if (!existsSync(join(folder, path)))
      throw new Error(`npm could not install ${path} as package-lock.json names it`);
  return native;
}

/** A lock file, as far as it is read here. */
interface Lock {
  readonly packages: Readonly<Record<string, LockedPackage>>;
}
interface LockedPackage {
  readonly dev?: true;
  os?: readonly string[];
  cpu?: readonly string[];
  libc?: readonly string[];
}

/** Whether a package is native to a platform. The program's Linux has the C library of GNU. */
function isFor(target: Target, { os, cpu, libc = ["glibc"] }: LockedPackage): boolean {
  const [ownOs = "", ownCpu = ""] = target.split("-");
  return os?.includes(ownOs) === true && cpu?.includes(ownCpu) === true && libc.includes("glibc");
}

function move(path: string, from: string, to: string): void {
  mkdirSync(dirname(join(to, path)), { recursive: true });
  renameSync(join(from, path), join(to, path));
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
