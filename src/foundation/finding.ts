import type { Hint } from "./hint.ts";

/**
 * What one check of `formsvc doctor` found. Each feature exports functions that return findings about its own things;
 * `doctor/examine` lists them.
 */
export interface Finding {
  /** A stable name for scripts: `noun.what`, like `backups.age`. */
  readonly name: string;
  /** False if somebody should do something. */
  readonly ok: boolean;
  /** What was found, in one line. */
  readonly message: string;
  /** What to do about it: a text, or a hint if the way to do it differs between terminal and page; null if nothing is wrong. */
  readonly advice: Advice | null;
}

type Advice = string | Hint;

export function sound(name: string, message: string): Finding {
  return { name, ok: true, message, advice: null };
}

export function problem(name: string, message: string, advice: Advice): Finding {
  return { name, ok: false, message, advice };
}
