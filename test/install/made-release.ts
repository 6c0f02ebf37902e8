import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import manifest from "../../package.json" with { type: "json" };
import { openSigner } from "../../scripts/release/sign.ts";
import { cloneTree, hasCommit, repository, runRelease, startOldRelease } from "./make-release.ts";

/** Releases laid out as in a root: of this tree, made twice by `npm run release`, and of the version before it. */
const releases = join(repository, "build/test-release");
export const newRelease = join(releases, "srv/new");
export const secondRelease = join(releases, "srv/second");
export const oldRelease = join(releases, "srv/old");
/** What `npm run release` told when it made the first one, without keys of its own. */
export const toldFile = join(releases, "told");
/** The address that the release is built for. */
export const RELEASE_URL = "https://releases.formsvc.test/newest";
export const VERSION: string = manifest.version;
/** Another version than this one's, because no two releases of the history are numbered yet. */
export const OLD_VERSION = "0.0.9";
/**
 * The version before, as a commit of this history. It takes files and knows 43 migrations, OLD_SCHEMA, so that an upgrade from it
 * changes tables.
 */
const OLD_COMMIT = "6ccf64ea";
export const OLD_SCHEMA = 43;

export const canInstall = process.platform === "linux" && process.arch === "x64" && process.getuid?.() === 0;
/** False in a clone without history: the old release is made of this tree then. */
export const hasOldTables = canInstall && hasCommit(OLD_COMMIT);

/** What a release depends on. */
const SOURCES = ["src", "scripts", "migrations", "package.json", "package-lock.json", ".npmrc", "LICENSE"];

/** Makes all once for all files of this project; kept for the next run if nothing that is in them has changed. */
export default async function makeReleases(): Promise<void> {
  if (!canInstall) return;
  const mark = join(releases, "made-of");
  const own = hashFiles([
    ...SOURCES,
    "test/install/make-release.ts",
    "test/install/made-release.ts",
    "test/install/make-old-release.ts",
  ]);
  if (existsSync(mark) && readFileSync(mark, "utf8") === own) return;
  rmSync(releases, { recursive: true, force: true });
  mkdirSync(releases, { recursive: true });
  const first = join(releases, "first");
  // A deeper folder, with a blank.
  const second = join(releases, "some where/else/again");
  for (const tree of [first, second]) cloneTree(tree, null);
  const old = join(releases, "old");
  if (!hasOldTables)
    process.stderr.write(`NOT TESTED: upgrades from other tables: this clone has no commit ${OLD_COMMIT}\n`);
  cloneTree(old, hasOldTables ? OLD_COMMIT : "HEAD");
  // The test keys, which all three look for at once.
  openSigner(Math.floor(Date.now() / 1000)).close();
  const without = { RELEASE_SIGNING_KEY: "", RELEASE_GPG_KEY: "", SOURCE_DATE_EPOCH: "" };
  const [told] = await Promise.all([
    runRelease(first, newRelease, { ...without, RELEASE_URL }),
    runRelease(second, secondRelease, { ...without, ...otherEnvironment() }),
    startOldRelease(old, oldRelease, OLD_VERSION),
  ]);
  rmSync(join(releases, "some where"), { recursive: true });
  writeFileSync(toldFile, told);
  writeFileSync(mark, own);
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

/** Another hour, language and mask of permissions, and the keys as files. */
function otherEnvironment(): Record<string, string> {
  const keys = join(process.env["XDG_STATE_HOME"] ?? join(homedir(), ".local/state"), "formsvc-test-keys");
  return {
    RELEASE_URL: `${RELEASE_URL}/`,
    RELEASE_SIGNING_KEY: join(keys, "RELEASE_SIGNING_KEY"),
    RELEASE_GPG_KEY: readFileSync(join(keys, "RELEASE_GPG_KEY"), "latin1"),
    TZ: "Pacific/Apia",
    LC_ALL: "tr_TR.UTF-8",
    UMASK: "077",
  };
}
