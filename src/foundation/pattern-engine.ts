import { createRequire } from "node:module";
import type * as re2 from "re2js";

/** RE2 as a package of JavaScript. */
export type PatternEngine = typeof re2;

let loaded: PatternEngine | null = null;

/**
 * Loads RE2 with the first pattern, because its tables of characters would take each start several milliseconds and a megabyte, and most
 * forms have no pattern. The build puts a packed script in place of this module.
 */
export function patternEngine(): PatternEngine {
  return (loaded ??= createRequire(import.meta.url)("re2js") as PatternEngine);
}
