const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** How long ago something was, in as few letters as a table has room for; null if it was a week ago or more, or is in the future. */
export function distance(ms: number): string | null {
  // The reader's clock may be behind the server's.
  if (ms < -MINUTE_MS) return null;
  if (ms < MINUTE_MS) return "just now";
  return ms < 7 * DAY_MS ? rounded(ms) : null;
}

/** The time until something will be done; null if it is a day or more. Something that is late is done as soon as there is a slot. */
export function waitingTime(ms: number): string | null {
  if (ms < MINUTE_MS) return "any moment";
  return ms < DAY_MS ? `in ${rounded(ms)}` : null;
}

function rounded(ms: number): string {
  if (ms < HOUR_MS) return `${Math.floor(ms / MINUTE_MS)} min`;
  return ms < DAY_MS ? `${Math.floor(ms / HOUR_MS)} h` : `${Math.floor(ms / DAY_MS)} d`;
}
