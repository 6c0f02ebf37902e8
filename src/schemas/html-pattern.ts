import { portablePattern } from "./portable-pattern.ts";

/**
 * A field's pattern as the `pattern` attribute of HTML, whose flag is `v` and which must match the whole value. Null if it does not
 * mean the same there: RE2 finds a pattern anywhere in the value unless it is anchored.
 */
export function htmlPattern(source: string | undefined): string | null {
  const written = source === undefined ? null : portablePattern(source);
  if (written === null || !isAnchored(written)) return null;
  // With `v` they are the difference and the intersection of sets.
  if (/--|&&/.test(written)) return null;
  try {
    return new RegExp(written, "v").source === "" ? null : written;
  } catch {
    return null;
  }
}

/** An escaped character, a class, or what divides a pattern. */
const PARTS = /\\[^]|\[(?:\\[^]|[^\]\\])*\]|[()|]/gu;

/** Whether it begins with `^` and ends with `$`, in the only alternative that it has. */
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
