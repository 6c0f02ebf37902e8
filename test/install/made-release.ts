import { join } from "node:path";
import manifest from "../../package.json" with { type: "json" };
import { hasCommit, repository } from "./make-release.ts";

export const releases = join(repository, "build/test-release");
/** Releases laid out as in a root: of this tree, made twice by `npm run release`, and of the version before it. */
export const releaseLayer = join(releases, "layer");
export const newRelease = join(releaseLayer, "srv/new");
export const secondRelease = join(releaseLayer, "srv/second");
export const oldRelease = join(releaseLayer, "srv/old");
/** Releases whose program is small, for what is about install.sh. */
export const smallRelease = join(releaseLayer, "srv/small/new");
export const oldSmallRelease = join(releaseLayer, "srv/small/old");
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
export const OLD_COMMIT = "6ccf64ea";
export const OLD_SCHEMA = 43;

export const canInstall = process.platform === "linux" && process.arch === "x64" && process.getuid?.() === 0;
/** False in a clone without history: the old release is made of this tree then. */
export const hasOldTables = canInstall && hasCommit(OLD_COMMIT);

/** Holds what the releases were made of, once they are whole. */
export const markFile = join(releases, "made-of");
/** Holds why they could not be made. */
export const failureFile = join(releases, "failure");
