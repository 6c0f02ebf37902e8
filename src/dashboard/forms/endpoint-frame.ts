import type { Endpoint } from "../../endpoints/endpoint.ts";
import { html, type Html } from "../../foundation/html.ts";
import { stateLabel } from "./endpoint-list-page.ts";

/** The sections of an endpoint's pages, by the part of the path after the id. */
const SECTIONS = {
  "": "Settings",
  "/fields": "Fields",
  "/keys": "Keys and form",
  "/page": "Own page",
  "/challenge": "Challenge",
  "/try": "Try a post",
  "/reply": "Automatic reply",
  "/import": "Import posts",
} as const;

export function pathOf({ id }: Endpoint, section: string): string {
  return `/dashboard/endpoints/${id}${section}`;
}

/** The head of an endpoint's pages. */
export function endpointFrame(endpoint: Endpoint, section: keyof typeof SECTIONS, content: Html): Html {
  return html`<p class="crumbs"><a href="/dashboard/endpoints">← Forms</a></p>
    <div class="head">
      <h1><bdi>${endpoint.name}</bdi></h1>
      ${stateLabel(endpoint.state)}
      <div class="actions">
        <a class="button" href="/dashboard?endpoint=${endpoint.id}">Its posts</a>
        ${stateForm(endpoint)}
      </div>
    </div>
    <nav class="tabs" aria-label="Form">
      ${Object.entries(SECTIONS).map(
        ([path, label]) =>
          html`<a href="${pathOf(endpoint, path)}" ${path === section && html` aria-current="page"`}>${label}</a>`,
      )}
      <a href="/dashboard/spam/endpoints/${endpoint.id}">Spam settings</a>
    </nav>
    ${content}`;
}

/** The button that pauses or resumes. A paused endpoint refuses every post; earlier submissions do not change. */
function stateForm(endpoint: Endpoint): Html {
  const [value, label] = endpoint.state === "active" ? ["paused", "Pause"] : ["active", "Open again"];
  return html`<form method="post" action="${pathOf(endpoint, "/state")}">
    <button name="state" value="${value}">${label}</button>
  </form>`;
}
