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

function shortly(time: Date): string {
  const isToCome = time.getTime() > Date.now();
  return isToCome
    ? time.toLocaleString(undefined, { dateStyle: "short", timeStyle: "short" })
    : time.toLocaleDateString();
}
