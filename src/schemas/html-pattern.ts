import { portablePattern } from "./portable-pattern.ts";

/**
 * Converts a field's pattern to the `pattern` attribute of HTML, which has the flag `v` and must match the whole value. Returns null if it
 * would not mean the same there: RE2 finds a pattern anywhere in the value unless it is anchored.
 */
export function htmlPattern(source: string | undefined): string | null {
  const written = source === undefined ? null : portablePattern(source);
  if (written === null || !isAnchored(written)) return null;
  // With the flag `v` these signs mean the difference and the intersection of sets.
  if (/--|&&/.test(written)) return null;
  try {
    return new RegExp(written, "v").source === "" ? null : written;
  } catch {
    return null;
  }
}

/** Matches an escaped character, a class, a bracket or a bar. */
const PARTS = /\\[^]|\[(?:\\[^]|[^\]\\])*\]|[()|]/gu;

/** Whether a pattern begins with `^`, ends with `$`, and has only one alternative at the top level. */
function isAnchored(written: string): boolean {
  if (!/^\^(?:[^]*[^\\])?(?:\\\\)*\$$/u.test(written)) return false;
  let depth = 0;
  for (const [part] of written.matchAll(PARTS)) {
    if (part === "(") depth += 1;
    else if (part === ")") depth -= 1;
    else if (part === "|" && depth === 0) return false;
  }
  return true;
}
