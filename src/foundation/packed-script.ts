import { getRawAsset } from "node:sea";
import { compileFunction } from "node:vm";
import { brotliDecompressSync } from "node:zlib";

/** The modules of the program that a packed script may require by name, besides Node's own. */
type Shared = Readonly<Record<string, () => unknown>>;

const loaded = new Map<string, unknown>();

/**
 * Runs a script that the build packed as a separate asset, and returns what it exports. It runs once in a process; each later call returns
 * the same. So a rarely needed script takes memory only after its first use, unlike the program's own script.
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
