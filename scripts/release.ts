import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { assemble, type Target, targets } from "./executable.ts";
import {
  billOfMaterials,
  type BundledPackage,
  licences,
  readBundledPackages,
  unite,
} from "./release/bundled-packages.ts";
import { copyPackages, installPackages } from "./release/install-packages.ts";
import { openSigner } from "./release/sign.ts";
import { type Executables, readExecutable, writeRelease } from "./release/write-release.ts";

/**
 * Makes a release in build/release/: an archive for each platform, a bill of materials, the licences of the parts, the checksums of all
 * files, and their signatures. Two runs on one commit make the same bytes.
 *
 * Usage: [RELEASE_SIGNING_KEY=FILE] [RELEASE_GPG_KEY=FILE] [RELEASE_URL=URL] npm run release
 *
 * For a trial, RELEASE_COMPRESSION=least and RELEASE_PACKAGES=FOLDER make it faster. FOLDER has the installed packages of each platform.
 */
const root = fileURLToPath(new URL("..", import.meta.url));
const work = join(root, "build/release-work");

await release();

async function release(): Promise<void> {
  const executables: Executables = {};
  const packages: (readonly BundledPackage[])[] = [];
  const known = { url: releaseUrl(), key: readPublicKey(commitTime()) };
  rmSync(work, { recursive: true, force: true });
  const platforms = Object.keys(targets) as Target[];
  const installed = process.env["RELEASE_PACKAGES"] ?? "";
  if (installed === "") installPackages(root, platforms, (target) => join(work, target));
  for (const target of platforms) {
    const folder = join(work, target);
    const output = join(work, `formsvc-${targets[target].platform}`);
    if (installed !== "") copyPackages(root, join(installed, target), folder);
    linkFolder(join(root, "src"), folder);
    const { inputs } = await assemble({ folder, target, release: known }, output, stripTool(target));
    packages.push(readBundledPackages(folder, inputs));
    const addons = inputs.filter((input) => input.endsWith(".node")).map((input) => join(folder, input));
    executables[target] = readExecutable(target, output, addons);
    process.stderr.write(`${output}\n`);
  }
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string };
  const all = unite(packages);
  await writeRelease(join(root, "build/release"), executables, {
    version,
    seconds: commitTime(),
    url: known.url,
    license: readFileSync(join(root, "LICENSE"), "utf8"),
    thirdParty: licences(all),
    bill: billOfMaterials(version, all),
  });
}

/** Copies a folder into another one. The files are hard links if possible, so they must only be read. */
function linkFolder(from: string, to: string): void {
  const copy = 'cp -a --link "$1" "$2" 2>/dev/null || { rm -rf "$2/${1##*/}" && cp -a "$1" "$2"; }';
  execFileSync("sh", ["-c", copy, "sh", from, to]);
}

/** The public key with which `formsvc upgrade` verifies releases. */
function readPublicKey(seconds: number): string {
  const signer = openSigner(seconds);
  signer.close();
  return signer.sshPublicKey;
}

/** The time of the commit in seconds since 1970, unless `SOURCE_DATE_EPOCH` sets another time, as its specification says. */
function commitTime(): number {
  const given = process.env["SOURCE_DATE_EPOCH"] ?? "";
  const text = given || execFileSync("git", ["log", "-1", "--format=%ct"], { cwd: root, encoding: "utf8" });
  if (!/^\d{1,11}\s*$/.test(text)) throw new Error(`SOURCE_DATE_EPOCH is not a number of seconds: ${text}`);
  return Number(text);
}

function releaseUrl(): string {
  const url = (process.env["RELEASE_URL"] ?? "").replace(/\/+$/, "");
  if (url !== "" && !/^https:\/\/[\w.:/-]+$/.test(url))
    throw new Error(`RELEASE_URL is not an https address without blanks and quotes: ${url}`);
  if (url === "") process.stderr.write("RELEASE_URL is not set: install.sh will need --from\n");
  return url;
}

/** The tool that removes symbols from a target's ELF file, for its processor; null if the target has none or it is not installed. */
function stripTool(target: Target): string | null {
  const tools: Partial<Record<Target, string>> = {
    "linux-x64": "x86_64-linux-gnu-strip",
    "linux-arm64": "aarch64-linux-gnu-strip",
  };
  const tool = tools[target];
  if (tool === undefined) return null;
  if (spawnSync(tool, ["--version"]).error === undefined) return tool;
  process.stderr.write(
    `${tool} is not installed: the executable for ${target} keeps its names for debuggers\n`,
  );
  return null;
}
