import { basename, join } from "node:path";
import { build, type Plugin } from "esbuild";
import { writeFileSync } from "node:fs";
import type { Beside } from "./bundle-beside.ts";
import { asAscii, pack } from "./smaller-script.ts";

const ASSET = "script-log-thread";

/** Gives its own script to the thread that copies the write-ahead log: the program's script would take 30 MB more while it runs. */
export function embedLogThread(beside: Beside): Plugin {
  return {
    name: "embed-log-thread",
    setup(builder) {
      builder.onLoad({ filter: /[\\/]sqlite[\\/]start-log-thread\.ts$/ }, async () => {
        const addon = JSON.stringify(await packThread(beside));
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
  return new Worker(script, { ...optionsOf({ ...data, addon: loadedFrom(${addon}) }), eval: true });
}`,
        };
      });
    },
  };
}

/** Bundles the thread's script. @returns the name of the driver's addon */
async function packThread({ folder, buildFolder, options, assets, inputs }: Beside): Promise<string> {
  let addon = "";
  const { outputFiles, metafile } = await build({
    ...options,
    absWorkingDir: folder,
    entryPoints: [join(folder, "src/database/sqlite/log-thread.ts")],
    write: false,
    metafile: true,
    logLevel: "warning",
    plugins: [
      {
        name: "load-addon-again",
        setup(builder) {
          builder.onLoad({ filter: /\.node$/ }, ({ path }) => {
            addon = basename(path);
            return { loader: "js", contents: LOAD_AGAIN };
          });
        },
      },
    ],
  });
  for (const input of Object.keys(metafile.inputs)) inputs.add(input);
  assets[ASSET] = join(buildFolder, ASSET);
  writeFileSync(assets[ASSET], pack(asAscii(outputFiles[0]?.text ?? "")));
  return addon;
}

/** Loads the same library from the same file, because a second SQLite in a process would release the locks of the first one. */
const LOAD_AGAIN = `process.dlopen(module, require("node:worker_threads").workerData.addon);`;
