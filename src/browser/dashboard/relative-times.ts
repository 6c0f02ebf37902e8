const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** Shows each `<time data-relative>` as its distance from now; the exact time, in the reader's own zone, stays as its title. */
export function showRelativeTimes(within: ParentNode, now = Date.now()): void {
  for (const element of within.querySelectorAll<HTMLTimeElement>("time[data-relative]")) {
    const time = new Date(element.dateTime);
    element.title = time.toLocaleString();
    element.textContent = distance(now - time.getTime(), time);
  }
}

function distance(ms: number, time: Date): string {
  if (ms < MINUTE_MS) return "just now";
  if (ms < HOUR_MS) return `${Math.floor(ms / MINUTE_MS)} min`;
  if (ms < DAY_MS) return `${Math.floor(ms / HOUR_MS)} h`;
  if (ms < 7 * DAY_MS) return `${Math.floor(ms / DAY_MS)} d`;
  return time.toLocaleDateString();
}
