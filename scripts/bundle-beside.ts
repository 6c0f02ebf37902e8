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

/** Bundles a script beside the program. */
export async function bundleBeside(
  { folder, options, inputs }: Pick<Beside, "folder" | "options" | "inputs">,
  own: BuildOptions,
): Promise<string> {
  const { outputFiles, metafile } = await build({
    ...options,
    ...own,
    absWorkingDir: folder,
    // A script that is compiled by itself cannot import.
    supported: { "dynamic-import": false },
    write: false,
    metafile: true,
  });
  for (const input of Object.keys(metafile.inputs)) inputs.add(input);
  return outputFiles[0]?.text ?? "";
}
