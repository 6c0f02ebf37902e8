import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Plugin } from "esbuild";
import type { Target } from "./targets.ts";

/** The packages with native addons, by the names under which the program embeds these, which are the same on all platforms. */
const ADDONS = { "better-sqlite3": "sqlite.node", "@node-rs/argon2": "argon2.node" } as const;

/** The name under which the driver of SQLite is embedded. */
export const SQLITE_ADDON = ADDONS["better-sqlite3"];

/** The names of the platforms in the packages of argon2. */
const ARGON2_NAMES: Readonly<Record<Target, string>> = {
  "linux-x64": "linux-x64-gnu",
  "linux-arm64": "linux-arm64-gnu",
  "darwin-arm64": "darwin-arm64",
  "win32-x64": "win32-x64-msvc",
};

/** The files of a platform that stand for its addons, as paths from the source's folder. */
export interface PlatformFiles {
  /** The addons, by the names under which they are embedded. */
  readonly addons: Readonly<Record<string, string>>;
  /** The script with which the driver of SQLite loads its addon. */
  readonly driver: string;
}

export function platformFiles(target: Target): PlatformFiles {
  const argon2 = ARGON2_NAMES[target];
  return {
    addons: {
      [SQLITE_ADDON]: `node_modules/better-sqlite3/prebuilds/${target}.node`,
      [ADDONS["@node-rs/argon2"]]: `node_modules/@node-rs/argon2-${argon2}/argon2.${argon2}.node`,
    },
    driver: `node_modules/better-sqlite3/lib/${target}.js`,
  };
}

/**
 * Reads the driver's script with the embedded name of its addon, so that it is the same on all platforms.
 *
 * @throws Error if the script does not load the addon of its platform
 */
export function readDriver(folder: string, target: Target): string {
  const { driver } = platformFiles(target);
  const text = readFileSync(join(folder, driver), "utf8");
  const [before, after, ...more] = text.split(`'../prebuilds/${target}.node'`);
  if (before === undefined || after === undefined || more.length > 0)
    throw new Error(`${driver} does not load ../prebuilds/${target}.node once`);
  return `${before}"${SQLITE_ADDON}"${after}`;
}

/**
 * Puts the parts of one platform into a script without its name. The common entries of both packages choose the addon while they run, which
 * a bundler cannot see; that of argon2 would also hide why its addon could not be loaded.
 *
 * @param loadAddon the code of a module that exports an addon, by its embedded name
 */
export function embedAddons(folder: string, target: Target, loadAddon: (name: string) => string): Plugin {
  return {
    name: "embed-addons",
    setup(builder) {
      builder.onResolve({ filter: /^better-sqlite3$/ }, () => ({
        path: "better-sqlite3",
        namespace: "driver",
      }));
      builder.onLoad({ filter: /.*/, namespace: "driver" }, () => ({
        loader: "js",
        resolveDir: join(folder, dirname(platformFiles(target).driver)),
        contents: readDriver(folder, target),
      }));
      builder.onResolve({ filter: /^(?:sqlite\.node|@node-rs\/argon2)$/ }, ({ path }) => ({
        path: path === "@node-rs/argon2" ? ADDONS[path] : path,
        namespace: "addon",
      }));
      builder.onLoad({ filter: /.*/, namespace: "addon" }, ({ path }) => ({
        loader: "js",
        resolveDir: folder,
        contents: loadAddon(path),
      }));
    },
  };
}
