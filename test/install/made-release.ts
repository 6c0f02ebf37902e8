import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import manifest from "../../package.json" with { type: "json" };
import buildIfStale from "../executable/build-if-stale.ts";
import { executable } from "../support/program.ts";
import { type Assembled, makeExecutable, makeRelease } from "./make-release.ts";

export const repository = fileURLToPath(new URL("../..", import.meta.url));

/** Releases for this processor, laid out as in a root: of the version of this tree, and of one before it. */
export const releases = join(repository, "build/test-release");
export const newRelease = join(releases, "srv/new");
export const oldRelease = join(releases, "srv/old");
export const VERSION: string = manifest.version;
/** As long as the other one: it takes its place in the executable. */
export const OLD_VERSION = "0.0.9";

export const canInstall = process.platform === "linux" && process.arch === "x64" && process.getuid?.() === 0;

/** Makes both once for all files of this project; kept for the next run if nothing that is in them has changed. */
export default async function makeReleases(): Promise<void> {
  if (!canInstall) return;
  buildIfStale();
  const mark = join(releases, "made-of");
  const own = `${statSync(executable).mtimeMs} ${newest()}`;
  if (existsSync(mark) && readFileSync(mark, "utf8") === own) return;
  rmSync(releases, { recursive: true, force: true });
  mkdirSync(releases, { recursive: true });
  const program = await makeExecutable(join(releases, "work"));
  await makeRelease(newRelease, program, VERSION);
  await makeRelease(oldRelease, makeOld(program), OLD_VERSION);
  writeFileSync(mark, own);
}

/** When each file of the packaging was changed. */
function newest(): string {
  const folder = join(repository, "scripts/release");
  return readdirSync(folder)
    .sort()
    .map((name) => statSync(join(folder, name)).mtimeMs)
    .join(" ");
}

/** The same program, which says that it is an older version. */
function makeOld({ file, addons }: Assembled): Assembled {
  const bytes = readFileSync(file);
  const at = bytes.indexOf(`version:"${VERSION}"`);
  if (at === -1 || VERSION.length !== OLD_VERSION.length)
    throw new Error("the version is not where it was in the executable");
  bytes.write(OLD_VERSION, at + 'version:"'.length, "latin1");
  const old = join(releases, "old-executable");
  writeFileSync(old, bytes, { mode: 0o755 });
  return { file: old, addons };
}
