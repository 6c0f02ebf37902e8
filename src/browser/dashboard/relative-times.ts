import { distance, waitingTime } from "./distance.ts";

const RENEW_MS = 60_000;

/** Shows each `<time data-time>` relative to now. Its title has the whole time in the reader's own time zone. */
export function keepRelativeTimes(): void {
  const times = document.querySelectorAll<HTMLTimeElement>("time[data-time]");
  if (times.length === 0) return;
  const show = (): void => {
    for (const time of times) showTime(time);
  };
  show();
  setInterval(show, RENEW_MS);
}

function showTime(element: HTMLTimeElement): void {
  const time = new Date(element.dateTime);
  if (Number.isNaN(+time)) return;
  element.title = time.toLocaleString();
  element.textContent = wordsFor(time, element.dataset["time"]);
}

function wordsFor(time: Date, manner: string | undefined): string {
  const passed = Date.now() - time.getTime();
  if (manner === "exact") return dayAndHour(time);
  if (manner === "due") return waitingTime(-passed) ?? dayAndHour(time);
  return (
    distance(passed) ?? (passed < 0 ? dayAndHour(time) : time.toLocaleDateString(undefined, dayOf(time)))
  );
}

function dayAndHour(time: Date): string {
  return time.toLocaleString(undefined, { ...dayOf(time), hour: "numeric", minute: "2-digit" });
}

/** Includes the year if it is not this year. */
function dayOf(time: Date): Intl.DateTimeFormatOptions {
  const day = { day: "numeric", month: "short" } as const;
  return time.getFullYear() === new Date().getFullYear() ? day : { ...day, year: "numeric" };
}
