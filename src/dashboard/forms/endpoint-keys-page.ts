import type { Endpoint } from "../../endpoints/endpoint.ts";
import { getViewableEndpoint, readSchema } from "../../endpoints/endpoint-store.ts";
import { issueKey, revokeKey, rotateKey } from "../../endpoints/key-operations.ts";
import { FormsvcError } from "../../foundation/errors.ts";
import { html, type Html } from "../../foundation/html.ts";
import type { z } from "zod";
import type { issuedKeyShape } from "../../keys/key-json.ts";
import { KEY_PREFIXES, type KeyKind } from "../../keys/key-format.ts";
import { getKeyOf, type Key, keyState, listKeys } from "../../keys/key-store.ts";
import type { SchemaDefinition } from "../../schemas/definition.ts";
import { mayWithAny } from "../../workspaces/standing.ts";
import { type Answer, page, redirect } from "../answer.ts";
import { endpointFrame, pathOf } from "./endpoint-frame.ts";
import { createOnce, onceInput } from "../kit/once.ts";
import { ownAddress } from "../own-address.ts";
import type { DashboardParts } from "../parts.ts";
import type { Routes, Visit } from "../routes.ts";
import { copyRow, snippetCards, type ShownSnippet } from "./snippets-view.ts";
import { exactTime, time } from "../kit/time.ts";
import { DAY_MS, HOUR_MS, WEEK_MS } from "../../foundation/time-units.ts";

const SECTION = "/keys";

type Issued = z.output<typeof issuedKeyShape>;

/** How long an old key stays valid next to its successor. */
const GRACES = [
  { name: "now", label: "stops at once", ms: 0 },
  { name: "hour", label: "works for another hour", ms: HOUR_MS },
  { name: "day", label: "works for another day", ms: DAY_MS },
  { name: "week", label: "works for another week", ms: WEEK_MS },
] as const;

/**
 * `/dashboard/endpoints/:id/keys`: the keys, and the form's code to paste. A key's text is shown only in the answer that issued the key.
 */
export function endpointKeysPages(routes: Routes, parts: DashboardParts): void {
  const once = createOnce((answer) => answer.kind === "page" && answer.status === 201);
  const { db, config } = parts;

  routes.read("/endpoints/:id/keys", async (visit) => {
    const { endpoint, definition, keys, mayIssueSecret } = await readEndpoint(visit);
    const context = { base: ownAddress(visit.request, config), key: KEY_PLACE, fileBounds: config.files };
    const content = html`${keyTable({ endpoint, mayIssueSecret }, keys, visit.now)}${issueForm(endpoint, mayIssueSecret)}
      <p class="muted">Put the publishable key in the place of <code>${KEY_PLACE}</code>. If it is lost, issue another one.</p>
      ${snippetCards(endpoint, definition, context)}`;
    return page(`${endpoint.name}: keys`, endpointFrame(endpoint, SECTION, content));
  });

  routes.write("/endpoints/:id/keys", async (visit) => {
    const { endpoint } = await readEndpoint(visit);
    const kind = kindOf(visit.form.get("kind"));
    return issue(visit, endpoint, () => visit.perform(issueKey, { endpoint: endpoint.id, kind }));
  });

  routes.write("/endpoints/:id/keys/:key/rotate", async (visit) => {
    const { endpoint, key } = await readKey(visit);
    const grace = GRACES.find(({ name }) => name === visit.form.get("grace"));
    if (grace === undefined) throw new FormsvcError("usage", "choose how long the old key works");
    return issue(visit, endpoint, () => visit.perform(rotateKey, { key: key.id, grace_ms: grace.ms }));
  });

  routes.write("/endpoints/:id/keys/:key/revoke", async (visit) => {
    const { endpoint, key } = await readKey(visit);
    await visit.perform(revokeKey, { key: key.id });
    return redirect(pathOf(endpoint, SECTION), "key-revoked");
  });

  function readEndpoint({ viewer, params }: Visit) {
    return db.read(function* () {
      const endpoint = yield* getViewableEndpoint(viewer, params["id"] ?? "");
      return {
        endpoint,
        definition: yield* readSchema(endpoint),
        keys: yield* listKeys(endpoint.id),
        mayIssueSecret: yield* mayWithAny(viewer, "keys:secret", [endpoint]),
      };
    });
  }

  function readKey({ viewer, params }: Visit) {
    return db.read(function* () {
      const endpoint = yield* getViewableEndpoint(viewer, params["id"] ?? "");
      return { endpoint, key: yield* getKeyOf(endpoint.id, params["key"] ?? "") };
    });
  }

  async function issue(visit: Visit, endpoint: Endpoint, verb: () => Promise<Issued>): Promise<Answer> {
    const show = async (): Promise<Answer> => {
      const issued = await verb();
      const { definition } = await readEndpoint(visit);
      const context = { base: ownAddress(visit.request, config), fileBounds: config.files };
      const content = issuedView(endpoint, issued, definition, context);
      return page(`${endpoint.name}: new key`, endpointFrame(endpoint, SECTION, content), 201);
    };
    return once.run(visit, show, () => redirect(pathOf(endpoint, SECTION), "key-issued-already"));
  }
}

/** Stands for the key in the snippets, because nobody can show the key again. */
const KEY_PLACE = "fpk_YOUR_PUBLISHABLE_KEY";

function kindOf(given: string | null): KeyKind {
  if (given === "secret" || given === "publishable") return given;
  throw new FormsvcError("usage", "a key is secret or publishable");
}

const KIND_LABELS: Readonly<Record<KeyKind, string>> = { secret: "Secret", publishable: "Publishable" };
const STATE_LABELS: Readonly<Record<ReturnType<typeof keyState>, Html>> = {
  active: html`<span class="pill done">Works</span>`,
  ending: html`<span class="pill medium">Works for a while</span>`,
  revoked: html`<span class="pill">Revoked</span>`,
};

interface KeyTable {
  readonly endpoint: Endpoint;
  /** Whether the viewer may also issue, rotate and revoke secret keys. */
  readonly mayIssueSecret: boolean;
}

function keyTable(table: KeyTable, keys: readonly Key[], now: number): Html {
  const rows = keys.map((key) => keyRow(table, key, now)).toReversed();
  return html`<div class="card scroll folds" tabindex="0" role="region" aria-label="Keys">
    <table>
      <thead>
        <tr>
          <th scope="col">Begins with</th>
          <th scope="col">Kind</th>
          <th scope="col">State</th>
          <th scope="col">Issued</th>
          <th scope="col"><span class="hidden-text">Actions</span></th>
        </tr>
      </thead>
      <tbody>${rows}</tbody>
    </table>
  </div>`;
}

function keyRow({ endpoint, mayIssueSecret }: KeyTable, key: Key, now: number): Html {
  const state = keyState(key, now);
  const mayChange = state !== "revoked" && (key.kind === "publishable" || mayIssueSecret);
  const leak =
    key.seenInBrowserAt !== null &&
    html`<p class="problem">
      A browser sent this secret key, last on ${exactTime(key.seenInBrowserAt)}, so others can know it.
      ${state !== "revoked" && "Rotate it, and put the publishable key into the page."}
    </p>`;
  return html`<tr>
    <th scope="row"><code>${KEY_PREFIXES[key.kind]}${key.lookup}</code>${leak}</th>
    <td>${KIND_LABELS[key.kind]}</td>
    <td>${STATE_LABELS[state]}${state === "ending" && key.revokedAt !== null && html` until ${exactTime(key.revokedAt)}`}</td>
    <td data-label="Issued">${time(key.createdAt)}</td>
    <td class="right full">${mayChange && keyActions(endpoint, key)}</td>
  </tr>`;
}

/** Both actions need two steps: the form must be opened first. */
function keyActions(endpoint: Endpoint, { id, lookup }: Key): Html {
  const path = pathOf(endpoint, `${SECTION}/${id}`);
  return html`<details class="act">
    <summary>Change<span class="hidden-text"> the key ${lookup}</span></summary>
    <form method="post" action="${path}/rotate">
      ${onceInput()}
      <label>Issue a successor; the old key
        <select name="grace">
          ${GRACES.map(({ name, label }) => html`<option value="${name}">${label}</option>`)}
        </select></label>
      <button>Rotate</button>
    </form>
    <form method="post" action="${path}/revoke">
      <p>Or refuse it from now on, without a successor:</p>
      <button class="danger">Revoke</button>
    </form>
  </details>`;
}

function issueForm(endpoint: Endpoint, mayIssueSecret: boolean): Html {
  return html`<form class="card stacked" method="post" action="${pathOf(endpoint, SECTION)}">
    ${onceInput()}
    <h2>Issue another key</h2>
    <p class="muted">
      A publishable key stands in the page of your form and can only send posts. A secret key is for your own server: it can read and delete
      what was sent${!mayIssueSecret && "; owners of the workspace issue those"}.
    </p>
    <p class="row">
      <button name="kind" value="publishable">Issue a publishable key</button>
      ${mayIssueSecret && html`<button name="kind" value="secret">Issue a secret key</button>`}
    </p>
  </form>`;
}

function issuedView(
  endpoint: Endpoint,
  issued: Issued,
  definition: SchemaDefinition,
  shown: Omit<ShownSnippet, "key">,
): Html {
  const { kind } = issued.key;
  const text = issued[kind] ?? "";
  const snippets =
    kind === "publishable" ? snippetCards(endpoint, definition, { ...shown, key: text }) : null;
  return html`<section class="once" aria-labelledby="issued">
      <h2 id="issued">The new key</h2>
      <p><b>Copy it now: it is shown this once and cannot be shown again.</b></p>
      ${copyRow(`${KIND_LABELS[kind]} key`, text)}
      <p><a href="${pathOf(endpoint, SECTION)}">Back to the keys</a></p>
    </section>
    ${snippets}`;
}
