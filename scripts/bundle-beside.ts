import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { build, type BuildOptions } from "esbuild";

/** The folders and options with which the pieces beside the script are made, and the records that the build fills. */
export interface Beside {
  /** The folder with `src/` and `node_modules/`. */
  readonly folder: string;
  readonly buildFolder: string;
  readonly options: BuildOptions;
  /** The pieces that were made: path by name. */
  readonly assets: Record<string, string>;
  /** The files that the pieces are made of. */
  readonly inputs: Set<string>;
}

/** A script beside the program. */
export interface BundledScript {
  readonly text: string;
  /** What it is made of: files as paths from the folder, and others as `namespace:path`. */
  readonly inputs: readonly string[];
}

/** The scripts by name, with a hash of the files that they are made of. */
const bundledBefore = new Map<string, BundledScript & { readonly hash: string }>();

/**
 * Bundles a script beside the program. If this process has bundled the script of this name from files with the same content, it returns
 * that one: the platforms of a release differ by files of the program's own script only. All calls with a name must have the same options.
 */
export async function bundleBeside(
  name: string,
  { folder, options, inputs }: Pick<Beside, "folder" | "options" | "inputs">,
  own: BuildOptions,
): Promise<BundledScript> {
  let script = bundledBefore.get(name);
  if (script === undefined || script.hash !== hashFiles(folder, script.inputs)) {
    const { outputFiles, metafile } = await build({
      ...options,
      ...own,
      absWorkingDir: folder,
      // A script that is compiled by itself cannot import.
      supported: { "dynamic-import": false },
      write: false,
      metafile: true,
    });
    const found = Object.keys(metafile.inputs).filter((input) => input !== "<stdin>");
    script = { text: outputFiles[0]?.text ?? "", inputs: found, hash: hashFiles(folder, found) };
    bundledBefore.set(name, script);
  }
  for (const input of script.inputs) inputs.add(input);
  return script;
}

function hashFiles(folder: string, inputs: readonly string[]): string {
  const hash = createHash("sha256");
  for (const input of inputs.filter((each) => !isVirtual(each)))
    hash.update(`${input}\0`).update(readFileSync(join(folder, input)));
  return hash.digest("hex");
}

/** Whether an input is no file: the bundler writes `namespace:path` then. */
function isVirtual(input: string): boolean {
  return /^[a-z]{2,}:/.test(input);
}
