import { join } from "node:path";
import type { Plugin } from "esbuild";
import { writeFileSync } from "node:fs";
import { type Beside, bundleBeside } from "./bundle-beside.ts";
import { SQLITE_ADDON } from "./native-addons.ts";
import { asAscii, pack } from "./smaller-script.ts";

const ASSET = "script-log-thread";

/** Gives its own script to the thread that copies the write-ahead log: the program's script would take 30 MB more while it runs. */
export function embedLogThread(beside: Beside, addonsFor: AddonsFor): Plugin {
  return {
    name: "embed-log-thread",
    setup(builder) {
      builder.onLoad({ filter: /[\\/]sqlite[\\/]start-log-thread\.ts$/ }, async () => {
        await packThread(beside, addonsFor);
        return {
          loader: "js",
          resolveDir: join(beside.folder, "src/database/sqlite"),
          contents: `import { getRawAsset } from "node:sea";
import { Worker } from "node:worker_threads";
import { brotliDecompressSync } from "node:zlib";
import { loadedFrom } from "../../foundation/native-addon.ts";
import { optionsOf } from "./log-thread-options.ts";
export function startLogThread(data) {
  const script = brotliDecompressSync(getRawAsset("${ASSET}")).toString("latin1");
  return new Worker(script, { ...optionsOf({ ...data, addon: loadedFrom("${SQLITE_ADDON}") }), eval: true });
}`,
        };
      });
    },
  };
}

/** Makes the plugin that embeds the addons, by the code of a module that exports one. */
type AddonsFor = (loadAddon: (name: string) => string) => Plugin;

async function packThread(beside: Beside, addonsFor: AddonsFor): Promise<void> {
  const { folder, buildFolder, assets } = beside;
  const script = await bundleBeside(beside, {
    entryPoints: [join(folder, "src/database/sqlite/log-thread.ts")],
    logLevel: "warning",
    plugins: [addonsFor(() => LOAD_AGAIN)],
  });
  assets[ASSET] = join(buildFolder, ASSET);
  writeFileSync(assets[ASSET], pack(asAscii(script)));
}

/** Loads the same library from the same file, because a second SQLite in a process would release the locks of the first one. */
const LOAD_AGAIN = `process.dlopen(module, require("node:worker_threads").workerData.addon);`;
