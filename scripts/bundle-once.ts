import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Source } from "./targets.ts";
import { readDriver } from "./native-addons.ts";

/** The program without the parts of a platform. */
export interface Program {
  readonly script: string;
  /** The paths of the packed parts beside the script, by name. */
  readonly assets: Readonly<Record<string, string>>;
  /** The files that it is made of, as paths from the source's folder. */
  readonly inputs: readonly string[];
}

/** The programs that this process has bundled, each with the hash of what it is made of. */
const bundledBefore: { readonly program: Program; readonly hash: string }[] = [];

/**
 * Bundles a program, unless this process has bundled one of files with the same content: the platforms of a release differ by the addons and
 * runtimes, which are beside the script.
 */
export async function bundleOnce(source: Source, bundle: () => Promise<Program>): Promise<Program> {
  const before = bundledBefore.find(({ program, hash }) => hash === hashOf(source, program.inputs));
  if (before !== undefined) return before.program;
  const program = await bundle();
  bundledBefore.push({ program, hash: hashOf(source, program.inputs) });
  return program;
}

/** Of all of src/, because what the bundler is given may be made of files that it does not see, and of the packages' files. */
function hashOf({ folder, target, release }: Source, inputs: readonly string[]): string {
  const hash = createHash("sha256")
    .update(JSON.stringify(release ?? null))
    .update(readDriver(folder, target));
  const own = readdirSync(join(folder, "src"), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
  const others = inputs.map((input) => join(folder, input));
  for (const path of [...own, ...others].sort())
    hash.update(`${path.slice(folder.length)}\0`).update(readFileSync(path));
  return hash.digest("hex");
}

/** Whether an input of the bundler is a file: others are written as `namespace:path` or `<name>`. */
export function isFile(input: string): boolean {
  return !/^(?:<|[a-z]{2,}:)/.test(input);
}
