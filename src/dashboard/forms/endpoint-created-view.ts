import type { Endpoint } from "../../endpoints/endpoint.ts";
import { html, type Html } from "../../foundation/html.ts";
import type { SchemaDefinition } from "../../schemas/definition.ts";
import { pathOf } from "./endpoint-frame.ts";
import { ownPageAddress } from "./endpoint-own-page.ts";
import { copyRow, formCard, scriptCard, type ShownSnippet } from "./snippets-view.ts";

export interface CreatedForm {
  readonly endpoint: Endpoint;
  readonly definition: SchemaDefinition;
  readonly keys: { readonly secret: string | null; readonly publishable: string };
  /** Whether the viewer sees another form with the same name. */
  readonly hasNamesake: boolean;
}

/** The next steps after a form was made: its own page if it has one, else the code for a website. */
export function createdView(made: CreatedForm, shown: Omit<ShownSnippet, "key">): Html {
  const { endpoint, hasNamesake } = made;
  const hasPage = endpoint.settings.page.isOn;
  return html`<p class="crumbs"><a href="/dashboard/endpoints">← Forms</a></p>
    <div class="head">
      <h1><bdi>${endpoint.name}</bdi> is ready</h1>
      <div class="actions"><a class="button" href="${pathOf(endpoint, "")}">Go to the form</a></div>
    </div>
    ${hasNamesake && html`<p class="notice">Another form has the same name. To tell them apart, give one of them <a href="${pathOf(endpoint, "")}">another name</a>.</p>`}
    ${hasPage ? html`${addressCard(endpoint, shown.base)}${recipientsCard(endpoint)}${foldedCode(made, shown)}` : html`${codeCards(made, shown)}${recipientsCard(endpoint)}${pageCard(endpoint)}`}`;
}

function addressCard(endpoint: Endpoint, base: string): Html {
  const address = ownPageAddress(endpoint, base);
  return html`<section class="card" aria-labelledby="own-page">
    <header><h2 id="own-page">Its own page</h2></header>
    <div class="body">
      <p>Everybody who has this address can fill the form in. Send it around, print it, or link to it from anywhere.</p>
      ${copyRow("Address", address)}
      <p class="actions-left">
        <a class="button primary" href="${address}">Open the page</a>
        <a class="button" href="${pathOf(endpoint, "/page")}">Change its title, colour or thanks</a>
      </p>
    </div>
  </section>`;
}

function foldedCode(made: CreatedForm, shown: Omit<ShownSnippet, "key">): Html {
  const keys = made.keys.secret === null ? "key" : "keys";
  return html`<details>
    <summary>For a website or a program: the code and the ${keys}</summary>
    <p class="muted">The page needs none of this. You can issue another key, and get the code again, on the form’s page whenever you need it.</p>
    ${codeCards(made, shown)}
  </details>`;
}

function codeCards({ endpoint, definition, keys }: CreatedForm, shown: Omit<ShownSnippet, "key">): Html {
  const snippet = { ...shown, key: keys.publishable };
  return html`${formCard(endpoint, definition, snippet)}${keysCard(keys)}${scriptCard(endpoint, definition, snippet)}`;
}

function keysCard({ secret, publishable }: CreatedForm["keys"]): Html {
  return html`<section class="once" aria-labelledby="new-keys">
    <h2 id="new-keys">${secret === null ? "Its key" : "Its two keys"}</h2>
    <p><b>Copy ${secret === null ? "it now: it is" : "them now: they are"} shown this once and cannot be shown again.</b> If a key is lost, issue another one on the form’s
      page.</p>
    ${copyRow("Publishable key", publishable)}
    <p class="hint">It stands in the code for your page already. Everybody who reads the page can see it; it can only send posts.</p>
    ${
      secret === null
        ? html`<p class="hint">There is no secret key, which reads what was sent: an owner of the workspace issues one if a server needs it.</p>`
        : html`${copyRow("Secret key", secret)}
    <p class="hint">For your own server alone: it can read and delete what was sent. Never put it into a page.</p>`
    }
  </section>`;
}

/** A card for owners who turn out to have no website. */
function pageCard(endpoint: Endpoint): Html {
  return html`<section class="card" aria-labelledby="own-page">
    <header><h2 id="own-page">No website to put it into?</h2></header>
    <div class="body">
      <p class="muted">The form can have a page of its own here, to link to from anywhere. It needs no key and no code.</p>
      <p class="actions-left"><a class="button" href="${pathOf(endpoint, "/page")}">Give it a page</a></p>
    </div>
  </section>`;
}

/** A card that offers to add recipients. A new form notifies nobody, which its owner would notice late. */
function recipientsCard({ id }: Endpoint): Html {
  const query = `?endpoint=${id}`;
  return html`<section class="card" aria-labelledby="tell">
    <header><h2 id="tell">Who is told when somebody writes?</h2></header>
    <div class="body">
      <p class="muted">Nobody yet: what people send waits in the inbox.</p>
      <p class="actions-left">
        <a class="button" href="/dashboard/recipients/new${query}">Add an e-mail recipient</a>
        <a class="button" href="/dashboard/webhooks/new${query}">Add a webhook or chat</a>
      </p>
    </div>
  </section>`;
}
