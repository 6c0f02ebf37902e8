/**
 * What one check of `formsvc doctor` found. Each feature exports functions that return findings about its own things;
 * `cli/doctor-command` lists them.
 */
export interface Finding {
  /** Stable, for scripts: `noun.what`, like `backups.age`. */
  readonly name: string;
  /** False where somebody should do something. */
  readonly ok: boolean;
  /** What was found, in one line. */
  readonly message: string;
  /** What to do about it; null where nothing is wrong. */
  readonly advice: string | null;
}

export function sound(name: string, message: string): Finding {
  return { name, ok: true, message, advice: null };
}

export function problem(name: string, message: string, advice: string): Finding {
  return { name, ok: false, message, advice };
}
