import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import manifest from "../../package.json" with { type: "json" };
import { readExecutable, writeRelease } from "../../scripts/release/write-release.ts";
import buildIfStale from "../executable/build-if-stale.ts";
import { executable } from "../support/program.ts";

const repository = fileURLToPath(new URL("../..", import.meta.url));

/** Releases of the built executable for this processor: the version of this tree, and one before it. */
export const releases = join(tmpdir(), `formsvc-releases-${process.getuid?.() ?? 0}`);
export const newRelease = join(releases, "new");
export const oldRelease = join(releases, "old");
export const VERSION: string = manifest.version;
/** As long as the other one: it takes its place in the executable. */
export const OLD_VERSION = "0.0.9";
/** 2026-06-01: a release's own time is its commit's. */
export const SECONDS = 1_780_272_000;

export const canInstall = process.platform === "linux" && process.arch === "x64" && process.getuid?.() === 0;

const ADDONS = [
  "node_modules/@node-rs/argon2-linux-x64-gnu/argon2.linux-x64-gnu.node",
  "node_modules/better-sqlite3/prebuilds/linux-x64.node",
].map((path) => join(repository, path));

/** Makes both once for all files of this project; kept for the next run if the executable is the same. */
export default async function makeReleases(): Promise<void> {
  if (!canInstall) return;
  buildIfStale();
  const mark = join(releases, "made-of");
  const own = `${statSync(executable).mtimeMs} ${newest()}`;
  if (existsSync(mark) && readFileSync(mark, "utf8") === own) return;
  rmSync(releases, { recursive: true, force: true });
  mkdirSync(releases, { recursive: true });
  await makeRelease(newRelease, executable, VERSION);
  await makeRelease(oldRelease, makeOldExecutable(), OLD_VERSION);
  writeFileSync(mark, own);
}

function newest(): string {
  const names = [
    "install.sh",
    "deb.ts",
    "deb-postinst.sh",
    "deb-postrm.sh",
    "deb-prerm.sh",
    "image.ts",
    "apt.ts",
  ];
  return names.map((name) => statSync(join(repository, "scripts/release", name)).mtimeMs).join(" ");
}

async function makeRelease(folder: string, program: string, version: string): Promise<void> {
  const text = (name: string): string => readFileSync(join(repository, name), "utf8");
  await writeRelease(
    folder,
    { "linux-x64": readExecutable("linux-x64", program, ADDONS) },
    { version, seconds: SECONDS, url: "", license: text("LICENSE"), thirdParty: "none\n", bill: "{}\n" },
  );
}

/** The same program, which says that it is an older version. */
function makeOldExecutable(): string {
  const file = join(releases, "old-executable");
  copyFileSync(executable, file);
  const bytes = readFileSync(file);
  const at = bytes.indexOf(`version:"${VERSION}"`);
  if (at === -1 || VERSION.length !== OLD_VERSION.length)
    throw new Error("the version is not where it was in the executable");
  bytes.write(OLD_VERSION, at + 'version:"'.length, "latin1");
  writeFileSync(file, bytes);
  return file;
}
