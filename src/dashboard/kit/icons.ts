import { html, type Html } from "../../foundation/html.ts";

/** Our own drawings on a grid of 20 px. The style sheet sets the width of their lines. */
const DRAWINGS = {
  inbox: html`<path d="M3 11.5 5 4.5h10l2 7V16H3z" /><path d="M3 11.5h4l1 2.2h4l1-2.2h4" />`,
  held: html`<circle cx="10" cy="10" r="7" /><path d="M8 7.5v5M12 7.5v5" />`,
  form: html`<rect x="4" y="3" width="12" height="14" rx="2" /><path d="M7 7h6M7 10.5h6M7 14h3" />`,
  bell: html`<path d="M5 13.5V9a5 5 0 0 1 10 0v4.5l1.5 1.5h-13z" /><path d="M8.5 17.5h3" />`,
  shield: html`<path d="m10 2.8 6 2.2v4.5c0 3.7-2.5 6.2-6 7.7-3.5-1.5-6-4-6-7.7V5z" />`,
  people: html`<circle cx="7.5" cy="7" r="2.8" /><path d="M2.5 16c.4-3 2.4-4.5 5-4.5s4.6 1.5 5 4.5" /><path d="M13 4.4a2.8 2.8 0 0 1 0 5.2M14.7 11.9c1.6.7 2.5 2.1 2.8 4.1" />`,
  letter: html`<rect x="2.5" y="4.5" width="15" height="11" rx="2" /><path d="m3 6 7 5 7-5" />`,
  bars: html`<path d="M4 16.5v-5M10 16.5v-13M16 16.5v-8.5" />`,
  server: html`<rect x="3" y="3.5" width="14" height="5.5" rx="1.5" /><rect x="3" y="11" width="14" height="5.5" rx="1.5" /><path d="M6 6.25h.01M6 13.75h.01" />`,
  menu: html`<path d="M3.5 6h13M3.5 10h13M3.5 14h13" />`,
  check: html`<path d="m4.5 10.5 3.5 3.5 7.5-8" />`,
  up: html`<path d="m5.5 12 4.5-4.5 4.5 4.5" />`,
  down: html`<path d="m5.5 8 4.5 4.5L14.5 8" />`,
  line: html`<path d="M4 10h12" />`,
  lines: html`<path d="M4 5.5h12M4 10h12M4 14.5h7" />`,
  phone: html`<rect x="6" y="2.5" width="8" height="15" rx="2" /><path d="M9.5 14.5h1" />`,
  link: html`<path d="M8.5 11.5a3 3 0 0 0 4.2 0l2.4-2.4a3 3 0 0 0-4.2-4.2L9.7 6.1" /><path d="M11.5 8.5a3 3 0 0 0-4.2 0l-2.4 2.4a3 3 0 0 0 4.2 4.2l1.2-1.2" />`,
  number: html`<path d="M7.5 3.5 6 16.5M14 3.5l-1.5 13M3.5 7.5h13.5M3 12.5h13.5" />`,
  day: html`<rect x="3" y="4.5" width="14" height="12.5" rx="2" /><path d="M3 8.5h14M7 2.5v4M13 2.5v4" />`,
  choice: html`<circle cx="10" cy="10" r="6.5" /><circle cx="10" cy="10" r="2" />`,
  choices: html`<rect x="3.5" y="3.5" width="13" height="13" rx="2.5" /><path d="m7 10.2 2.2 2.2 4-4.6" />`,
  switch: html`<rect x="2.5" y="6" width="15" height="8" rx="4" /><circle cx="13.5" cy="10" r="1.7" />`,
  clip: html`<path d="m15.5 9.5-5.8 5.8a3.3 3.3 0 0 1-4.7-4.7l6.3-6.3a2.2 2.2 0 0 1 3.1 3.1l-6 6a1.1 1.1 0 0 1-1.6-1.6l5.4-5.4" />`,
  group: html`<rect x="3" y="3" width="14" height="14" rx="2" /><path d="M7 8h6M7 12h6" />`,
  list: html`<path d="M7.5 5.5h9M7.5 10h9M7.5 14.5h9M3.8 5.5h.01M3.8 10h.01M3.8 14.5h.01" />`,
  warning: html`<path d="M10 3 18 16.5H2z" /><path d="M10 8v4M10 14.2h.01" />`,
} as const;

export type IconName = keyof typeof DRAWINGS;

/** An icon as decoration. The words next to it say the same. */
export function icon(name: IconName): Html {
  return html`<svg class="icon" width="20" height="20" viewBox="0 0 20 20" aria-hidden="true">${DRAWINGS[name]}</svg>`;
}

/** The logo of the product. */
export const MARK = html`<svg width="20" height="20" viewBox="0 0 20 20" aria-hidden="true">
  <path d="M3 2h14v5H8v3h7v4H8v4H3z" fill="currentColor" />
</svg>`;

/** A grip for mouse and touch. The keyboard has buttons. */
export const GRIP = html`<svg width="20" height="20" viewBox="0 0 20 20">
  <path d="M7 4h2v2H7zm4 0h2v2h-2zM7 9h2v2H7zm4 0h2v2h-2zm-4 5h2v2H7zm4 0h2v2h-2z" />
</svg>`;
