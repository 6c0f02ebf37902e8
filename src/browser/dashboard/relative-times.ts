import { distance } from "./distance.ts";

const RENEW_MS = 60_000;

/** Shows each `<time data-relative>` as its distance from now; the exact time, in the reader's own zone, stays as its title. */
export function keepRelativeTimes(): void {
  const times = document.querySelectorAll<HTMLTimeElement>("time[data-relative]");
  if (times.length === 0) return;
  const show = (): void => {
    for (const time of times) showRelative(time);
  };
  show();
  setInterval(show, RENEW_MS);
}

function showRelative(element: HTMLTimeElement): void {
  const time = new Date(element.dateTime);
  if (Number.isNaN(time.getTime())) return;
  element.title = time.toLocaleString();
  element.textContent = distance(Date.now() - time.getTime()) ?? shortly(time);
}

/** The day, with the hour if it is still to come, with the year if it is another one. */
function shortly(time: Date): string {
  const now = new Date();
  const day = { day: "numeric", month: "short" } as const;
  if (time > now) return time.toLocaleString(undefined, { ...day, hour: "numeric", minute: "2-digit" });
  return time.toLocaleDateString(
    undefined,
    time.getFullYear() === now.getFullYear() ? day : { ...day, year: "numeric" },
  );
}
