import { toIsoTime } from "../../foundation/clock.ts";
import { html, type Html } from "../../foundation/html.ts";

/** How the script shows a time: as the time since then, as it is, or as the time until then. */
type Manner = "ago" | "exact" | "due";

/** A time in a list or by itself. The script shows how long ago it was. */
export function time(ms: number): Html {
  return element(ms, "ago");
}

/** A time in a sentence, like “since …”. The script shows it in the reader's own time zone. */
export function exactTime(ms: number): Html {
  return element(ms, "exact");
}

/** The time of something that will be done. The script shows how long it is until then. */
export function dueTime(ms: number): Html {
  return element(ms, "due");
}

/** A message that is late by more than this waits for others: its recipient fails, or much is sent before it. */
const LATE_MS = 60_000;

/** When a waiting message is tried. */
export function tryTime(dueAt: number, now: number): Html {
  return now - dueAt > LATE_MS ? html`when its turn comes` : dueTime(dueAt);
}

function element(ms: number, manner: Manner): Html {
  return html`<time datetime="${toIsoTime(ms)}" data-time="${manner}">${timeText(ms)}</time>`;
}

/** A text like `2026-11-22 10:41 UTC`. */
export function timeText(ms: number): string {
  return `${toIsoTime(ms).slice(0, 16).replace("T", " ")} UTC`;
}

/** A text like `22 November`. */
export function dayName(ms: number): string {
  return new Date(ms).toLocaleDateString("en-GB", { day: "numeric", month: "long", timeZone: "UTC" });
}
