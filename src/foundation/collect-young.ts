import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/**
 * Bytes of bodies between two collections. The engine itself begins a full collection after some MiB of buffers (20 with 40 MB of objects,
 * 8 with 20 MB). That stops everything for 10 to 20 ms, and works as long again on another thread. A collection of young objects takes less
 * than a millisecond and frees the buffers too. With 8 MiB between collections, an upload took a sixth more processor time than with 2.
 */
const BYTES_BETWEEN = 2_097_152;

type Collect = (options: { readonly type: "minor"; readonly execution: "sync" }) => void;

/**
 * Makes the engine free short-lived buffers early. Call the returned function with the size in bytes of each buffer that is no longer used.
 */
export function createYoungCollector(): (bytes: number) => void {
  let collect: Collect | null = null;
  let waiting = 0;
  return (bytes) => {
    waiting += bytes;
    if (waiting < BYTES_BETWEEN) return;
    waiting = 0;
    collect ??= findCollect();
    collect({ type: "minor", execution: "sync" });
  };
}

/** The engine exposes its `gc` function to a new context only, so no other part of the program sees it. */
function findCollect(): Collect {
  setFlagsFromString("--expose-gc");
  try {
    return runInNewContext("gc") as Collect;
  } finally {
    setFlagsFromString("--no-expose-gc");
  }
}
