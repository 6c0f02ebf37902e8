import { getRawAsset } from "node:sea";
import { compileFunction } from "node:vm";
import { brotliDecompressSync } from "node:zlib";

/** What a packed script finds under a name that is not one of Node's own modules. */
type Shared = Readonly<Record<string, () => unknown>>;

const loaded = new Map<string, unknown>();

/**
 * Runs a script that the build packed beside the program's own, and returns what it exports. It runs once in a process: each later call
 * gets the same. The program's own script stays in memory for as long as the process runs, and this one only from its first use.
 *
 * @param shared modules of the program that the script uses as they are.
 */
export function runPackedScript(name: string, shared: Shared = {}): unknown {
  if (!loaded.has(name)) loaded.set(name, run(name, shared));
  return loaded.get(name);
}

function run(name: string, shared: Shared): unknown {
  const text = brotliDecompressSync(getRawAsset(name)).toString("latin1");
  const module = { exports: {} };
  const find = (id: string): unknown => (shared[id] ?? (() => process.getBuiltinModule(id)))();
  const script = compileFunction(text, ["module", "exports", "require"], { filename: name });
  Reflect.apply(script, module.exports, [module, module.exports, find]);
  return module.exports;
}
