import { toIsoTime } from "../../foundation/clock.ts";
import { html, type Html } from "../../foundation/html.ts";

/** How the script shows a time: as the distance from now, as it is, or as what is still to come. */
type Manner = "ago" | "exact" | "due";

/** In a list, or alone. The script shows how long ago it was. */
export function time(ms: number): Html {
  return element(ms, "ago");
}

/** In a sentence, like “since …”. The script shows it in the reader's own zone. */
export function exactTime(ms: number): Html {
  return element(ms, "exact");
}

/** Of something that will be done. The script shows in how long. */
export function dueTime(ms: number): Html {
  return element(ms, "due");
}

/** What is late by more than this waits for others: its recipient fails, or much goes before it. */
const LATE_MS = 60_000;

/** When a message that waits is tried. */
export function tryTime(dueAt: number, now: number): Html {
  return now - dueAt > LATE_MS ? html`when its turn comes` : dueTime(dueAt);
}

function element(ms: number, manner: Manner): Html {
  return html`<time datetime="${toIsoTime(ms)}" data-time="${manner}">${timeText(ms)}</time>`;
}

/** `2026-11-22 10:41 UTC` */
export function timeText(ms: number): string {
  return `${toIsoTime(ms).slice(0, 16).replace("T", " ")} UTC`;
}

/** `22 November` */
export function dayName(ms: number): string {
  return new Date(ms).toLocaleDateString("en-GB", { day: "numeric", month: "long", timeZone: "UTC" });
}
