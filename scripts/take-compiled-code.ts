import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { Script } from "node:vm";
import type { Taking } from "./compiled-code.ts";

/**
 * Starts the program's server in this process, stops it, and writes the engine's compiled code of all that it ran. Standard input says which
 * files it reads and writes. The program finds its parts as in the executable.
 */

const taking = JSON.parse(readFileSync(0, "utf8")) as Taking;
const text = readFileSync(taking.program, "latin1");
const script = new Script(text, { filename: taking.program });
const own = createRequire(import.meta.url);
const partOf = (name: string): ArrayBuffer => {
  const bytes = readFileSync(taking.assets[name] ?? "");
  return bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
};
const replaced: Readonly<Record<string, object>> = {
  "node:sea": { isSea: () => true, getRawAsset: partOf },
  // The server changes flags when it has started. Code that is taken under other flags than those of a start is refused by the next start.
  "node:v8": { ...(own("node:v8") as object), setFlagsFromString: () => {} },
};
const findModule = (id: string): unknown => replaced[id] ?? own(id);

const port = await freePort();
process.argv.splice(2, Infinity, "serve", "--port", String(port));
process.on("exit", () => keepCompiled(script.createCachedData()));
const module = { exports: {} };
const run = script.runInThisContext() as (...given: unknown[]) => void;
Reflect.apply(run, module.exports, [module.exports, findModule, module, taking.program, ""]);
while (!(await isReady())) await sleep(10);
// As an event and not as a signal, because Windows has no signals.
process.emit("SIGTERM", "SIGTERM");

/** @throws if the engine would not take it */
function keepCompiled(compiled: Buffer): void {
  const { cachedDataRejected } = new Script(text, { filename: taking.program, cachedData: compiled });
  if (cachedDataRejected !== false) throw new Error("the engine refuses the code that it compiled");
  writeFileSync(taking.compiled, compiled);
}

async function isReady(): Promise<boolean> {
  try {
    return (await fetch(`http://127.0.0.1:${port}/readyz`)).ok;
  } catch {
    return false;
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0));
    });
  });
}
