import { DEFAULT_HONEYPOTS, type Endpoint } from "../../endpoints/endpoint.ts";
import { html, type Html } from "../../foundation/html.ts";
import type { SchemaDefinition } from "../../schemas/definition.ts";
import { fetchSnippet, formSnippet, type SnippetTarget } from "../../schemas/form-snippets.ts";

/** A text with a button that copies it. The button is shown by script. */
export function copyRow(label: string, text: string): Html {
  return html`<div class="secret">
    <span>${label}</span> <code>${text}</code>
    <button type="button" data-copy aria-label="Copy: ${label}">Copy</button>
  </div>`;
}

export type ShownSnippet = Pick<SnippetTarget, "base" | "key" | "fileBounds">;

/** The code that the owner pastes into a site, made for this endpoint. */
export function snippetCards(endpoint: Endpoint, definition: SchemaDefinition, shown: ShownSnippet): Html {
  return html`${formCard(endpoint, definition, shown)}${scriptCard(endpoint, definition, shown)}`;
}

export function formCard(endpoint: Endpoint, definition: SchemaDefinition, shown: ShownSnippet): Html {
  const hint = endpoint.settings.language === null ? `${FORM_HINT} ${LANGUAGE_HINT}` : FORM_HINT;
  return snippetCard(
    "For your site: a form",
    hint,
    formSnippet(definition, targetOf(endpoint, definition, shown)),
  );
}

export function scriptCard(endpoint: Endpoint, definition: SchemaDefinition, shown: ShownSnippet): Html {
  const snippet = fetchSnippet(definition, targetOf(endpoint, definition, shown));
  return snippetCard("For your own script", SCRIPT_HINT, snippet);
}

function targetOf({ settings }: Endpoint, definition: SchemaDefinition, shown: ShownSnippet): SnippetTarget {
  const names = settings.honeypots ?? DEFAULT_HONEYPOTS;
  return {
    ...shown,
    language: settings.language,
    honeypot: names.find((name) => !Object.hasOwn(definition, name)) ?? null,
    challenge: settings.challenge,
  };
}

const FORM_HINT =
  "Paste it into a page. It works without script; with the script in its first line the visitor stays on the page.";
const LANGUAGE_HINT = "Its own words are in English; “Language for visitors” under Settings has others.";
const SCRIPT_HINT =
  "Put the visitor’s answers in place of the examples. result.details says what is wrong with which field.";

function snippetCard(title: string, hint: string, snippet: string): Html {
  return html`<section class="card">
    <header><h2>${title}</h2></header>
    <div class="body snippet">
      <p class="muted">${hint}</p>
      <pre tabindex="0" aria-label="${title}"><code>${snippet}</code></pre>
      <button type="button" data-copy aria-label="Copy: ${title}">Copy</button>
    </div>
  </section>`;
}
