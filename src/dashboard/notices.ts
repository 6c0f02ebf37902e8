import { html, type Html } from "../foundation/html.ts";

/** What a page says after a write that it was reached from. Only these sentences can be shown, whatever an address holds. */
const NOTICES: Readonly<Record<string, (count: number) => string>> = {
  saved: () => "Saved.",
  "endpoint-made-already": () =>
    "The endpoint was made already, and its keys were shown that once. If they are lost, issue others on its page.",
};

/** Nothing if the address names no notice. */
export function noticeHtml(query: URLSearchParams): Html | null {
  const key = query.get("notice") ?? "";
  if (!Object.hasOwn(NOTICES, key)) return null;
  const count = Number(query.get("n") ?? 0);
  const sentence = NOTICES[key]?.(Number.isSafeInteger(count) ? count : 0) ?? "";
  return html`<p class="notice" role="status">${sentence}</p>`;
}
