const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** How long ago something was, in as few letters as a table has room for; null if it is a week or more, or still to come. */
export function distance(ms: number): string | null {
  // A reader's clock may be behind the server's.
  if (ms < -MINUTE_MS) return null;
  if (ms < MINUTE_MS) return "just now";
  if (ms < HOUR_MS) return `${Math.floor(ms / MINUTE_MS)} min`;
  if (ms < DAY_MS) return `${Math.floor(ms / HOUR_MS)} h`;
  if (ms < 7 * DAY_MS) return `${Math.floor(ms / DAY_MS)} d`;
  return null;
}
