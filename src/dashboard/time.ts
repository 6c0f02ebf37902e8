import { toIsoTime } from "../foundation/clock.ts";
import { html, type Html } from "../foundation/html.ts";

/** The script shows it as the distance from now. */
export function time(ms: number): Html {
  return html`<time datetime="${toIsoTime(ms)}" data-relative>${timeText(ms)}</time>`;
}

/** `2026-11-22 10:41 UTC` */
export function timeText(ms: number): string {
  return `${toIsoTime(ms).slice(0, 16).replace("T", " ")} UTC`;
}
