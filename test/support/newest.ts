import { readdirSync, statSync } from "node:fs";

/** The time at which a file, or the newest file in a folder, was last changed, in milliseconds since 1970; 0 if there is none. */
export function newest(path: string): number {
  const own = statSync(path, { throwIfNoEntry: false });
  if (own === undefined) return 0;
  if (!own.isDirectory()) return own.mtimeMs;
  return Math.max(...readdirSync(path).map((name) => newest(`${path}/${name}`)), own.mtimeMs);
}
