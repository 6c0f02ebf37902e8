import { type RecordedChange, listChangesOfToken } from "../../audit/audit-store.ts";
import type { Steps } from "../../database/steps.ts";
import { FormsvcError } from "../../foundation/errors.ts";
import { html, type Html } from "../../foundation/html.ts";
import type { Scope } from "../../operations/access.ts";
import type { Viewer } from "../../sessions/session.ts";
import { createToken, revokeToken } from "../../tokens/token-operations.ts";
import { getToken, listTokens } from "../../tokens/token-store.ts";
import { DEFAULT_SCOPES, endsSoon, stateOf, type Token, type TokenState } from "../../tokens/token.ts";
import { labelWorkspaces } from "../../workspaces/label-workspaces.ts";
import { listAccounts, listViewableWorkspaces } from "../../workspaces/workspace-store.ts";
import { type Answer, page, redirect } from "../answer.ts";
import { copyRow } from "../forms/snippets-view.ts";
import {
  NO_PROBLEMS,
  type Option,
  type Problems,
  problemSummary,
  selectField,
  textField,
} from "../kit/field.ts";
import { listCard } from "../kit/list-card.ts";
import { createOnce, onceInput } from "../kit/once.ts";
import { sentence } from "../kit/sentence.ts";
import { exactTime, time } from "../kit/time.ts";
import type { DashboardParts } from "../parts.ts";
import type { Routes, Visit } from "../routes.ts";
import { CHANGE_WORDS } from "../system/change-words.ts";
import { scopeChoices, scopesOf } from "./scope-choices.ts";
import { SCOPE_WORDS } from "./scope-words.ts";
import { DAY_MS } from "../../foundation/time-units.ts";

const PATH = "/dashboard/account/tokens";
/** The largest number of a token's changes that its page shows. */
const MAX_CHANGES = 50;
/** Stands for the person who makes the token; the id of a workspace stands for that workspace. */
const OWN = "own";

const EXPIRIES: readonly (Option & { readonly ms: number | null })[] = [
  ...[7, 30, 90, 365].map((days) => ({ value: String(days), label: `in ${days} days`, ms: days * DAY_MS })),
  { value: "never", label: "never", ms: null },
];

interface Typed {
  readonly name: string;
  readonly owner: string;
  readonly expiry: string;
  readonly scopes: readonly Scope[];
}

const NOTHING_TYPED: Typed = { name: "", owner: OWN, expiry: "90", scopes: DEFAULT_SCOPES };

/** `/dashboard/account/tokens`: tokens of the API, those of the account and those of its workspaces. A token's text is shown once. */
export function tokenPages(routes: Routes, { db }: DashboardParts): void {
  const once = createOnce((answer) => answer.kind === "page" && answer.status === 201);

  const show = async ({ viewer, now }: Visit, typed: Typed, problems: Problems): Promise<Answer> => {
    const { tokens, owners } = await db.read(() => readTokens(viewer));
    const content = html`<div class="head"><h1>Tokens</h1></div>
      ${problemSummary(problems)}
      <p class="muted">With a token a program does what you do here, over <a href="/dashboard/help/api">the API</a>. It can never do more than its owner.</p>
      ${tokens.length === 0 ? html`<p>No program has a token yet.</p>` : tokenList(tokens, owners, now)}${makeForm(typed, owners, viewer, problems)}`;
    return page("Tokens", content, problems.size === 0 ? 200 : 422);
  };

  routes.read("/account/tokens", (visit) => show(visit, NOTHING_TYPED, NO_PROBLEMS));

  routes.write("/account/tokens", (visit) => {
    const typed = readForm(visit.form);
    return once.run(
      visit,
      () => make(visit, typed, (problems) => show(visit, typed, problems)),
      () => redirect(PATH, "token-made-already"),
    );
  });

  routes.read("/account/tokens/:id", async ({ viewer, params, now }) => {
    const { token, changes, owners } = await db.read(function* () {
      const token = yield* getToken(viewer, params["id"] ?? "");
      const owners = yield* readOwners(viewer);
      return { token, owners, changes: yield* listChangesOfToken(token.id, MAX_CHANGES) };
    });
    return page(token.name, tokenView(token, changes, { owners, now }));
  });

  routes.write("/account/tokens/:id/revoke", async ({ params, perform }) => {
    await perform(revokeToken, { token: params["id"] ?? "" });
    return redirect(PATH, "token-revoked");
  });
}

/** The names of those whom tokens belong to, by id. */
interface Owners {
  readonly workspaces: ReadonlyMap<string, string>;
  readonly accounts: ReadonlyMap<string, string>;
}

/** The tokens that the viewer sees, the newest first. */
function* readTokens(viewer: Viewer): Steps<{ readonly tokens: readonly Token[]; readonly owners: Owners }> {
  return { tokens: (yield* listTokens(viewer)).toReversed(), owners: yield* readOwners(viewer) };
}

/** The workspaces that the viewer sees, and the accounts. */
function* readOwners(viewer: Viewer): Steps<Owners> {
  const ids = (yield* listViewableWorkspaces(viewer)).map(({ id }) => id);
  const accounts = viewer.isOperator ? yield* listAccounts() : [];
  return {
    workspaces: yield* labelWorkspaces(ids),
    accounts: new Map([...accounts.map(({ id, email }) => [id, email] as const), [viewer.accountId, "you"]]),
  };
}

function readForm(form: URLSearchParams): Typed {
  return {
    name: form.get("name") ?? "",
    owner: form.get("owner") ?? OWN,
    expiry: form.get("expires") ?? "",
    scopes: scopesOf(form),
  };
}

async function make(
  { perform }: Visit,
  { name, owner, expiry, scopes }: Typed,
  again: (problems: Problems) => Promise<Answer>,
): Promise<Answer> {
  const chosen = EXPIRIES.find(({ value }) => value === expiry);
  if (chosen === undefined) throw new FormsvcError("usage", "choose when the token ends");
  try {
    const workspace = owner === OWN ? null : owner;
    const made = await perform(createToken, { name, workspace, scopes, expires_in_ms: chosen.ms });
    return page("New token", madeView(made.token.name, made.secret), 201);
  } catch (error) {
    if (!(error instanceof FormsvcError) || error.code !== "usage") throw error;
    const field = error.message.startsWith("the name") ? "name" : "";
    return again(new Map([[field, sentence(error.message)]]));
  }
}

const STATES: Readonly<Record<TokenState, Html>> = {
  active: html`<span class="pill done">Works</span>`,
  expired: html`<span class="pill">Ended</span>`,
  revoked: html`<span class="pill">Revoked</span>`,
};

function tokenList(tokens: readonly Token[], owners: Owners, now: number): Html {
  return listCard({
    label: "Tokens",
    columns: ["Token", "Of", "State", "Ends", "Last used"],
    rows: tokens.map((token) => tokenRow(token, owners, now)),
    next: null,
  });
}

function tokenRow(token: Token, owners: Owners, now: number): Html {
  const { id, name, expiresAt, lastUsedAt } = token;
  return html`<tr>
    <th scope="row"><a href="${PATH}/${id}"><bdi>${name}</bdi></a></th>
    <td data-label="Of"><bdi>${ownerName(token, owners)}</bdi></td>
    <td>${stateView(token, now)}</td>
    <td data-label="Ends">${expiresAt === null ? "never" : time(expiresAt)}</td>
    <td data-label="Last used">${lastUsedAt === null ? "never" : time(lastUsedAt)}</td>
  </tr>`;
}

function stateView(token: Token, now: number): Html {
  return endsSoon(token, now)
    ? html`<span class="pill medium">Ends soon</span>`
    : STATES[stateOf(token, now)];
}

function ownerName({ accountId, workspaceId, endpointId }: Token, { accounts, workspaces }: Owners): string {
  if (accountId !== null) return accounts.get(accountId) ?? "an account";
  const workspace = workspaces.get(workspaceId ?? "") ?? "a workspace";
  return endpointId === null ? workspace : `one form of ${workspace}`;
}

function tokenView(
  token: Token,
  changes: readonly RecordedChange[],
  { owners, now }: { readonly owners: Owners; readonly now: number },
): Html {
  const { id, name, scopes, createdAt, expiresAt, lastUsedAt } = token;
  const isActive = stateOf(token, now) === "active";
  return html`<div class="head">
      <h1><bdi>${name}</bdi></h1>
      ${stateView(token, now)}
    </div>
    <p><a href="${PATH}">All tokens</a></p>
    <section class="card">
      <header><h2>What it may do</h2></header>
      <div class="body">
        <ul>
          ${scopes.map((scope) => html`<li>${SCOPE_WORDS[scope]} <small><code>${scope}</code></small></li>`)}
        </ul>
        <p class="muted">
          Of ${ownerName(token, owners)}; made on ${exactTime(createdAt)}; ${expiresAt === null ? "does not end" : html`ends on ${exactTime(expiresAt)}`};
          ${lastUsedAt === null ? "never used" : html`last used ${time(lastUsedAt)}`}.
        </p>
        ${
          isActive &&
          html`<form method="post" action="${PATH}/${id}/revoke">
            <button class="danger">Revoke it: programs that use it are refused from now on</button>
          </form>`
        }
      </div>
    </section>
    ${changes.length === 0 ? html`<p class="muted">It has changed nothing yet.</p>` : changesCard(changes)}`;
}

function changesCard(changes: readonly RecordedChange[]): Html {
  return listCard({
    header: html`<h2>What it did</h2>`,
    label: "What it did",
    columns: ["When", "What", "To what"],
    rows: changes.map(
      ({ at, action, subject, detail }) => html`<tr>
        <td>${time(at)}</td>
        <td>${CHANGE_WORDS[action] ?? action}</td>
        <td class="full"><bdi>${detail ?? subject}</bdi></td>
      </tr>`,
    ),
    next: null,
  });
}

function madeView(name: string, secret: string): Html {
  return html`<section class="once" aria-labelledby="made">
    <h1 id="made">The token <bdi>${name}</bdi></h1>
    <p><b>Copy it now: it is shown this once and cannot be shown again.</b></p>
    ${copyRow("Token", secret)}
    <p><a href="${PATH}">Back to the tokens</a></p>
  </section>`;
}

function makeForm(typed: Typed, { workspaces }: Owners, viewer: Viewer, problems: Problems): Html {
  const owners = [
    { value: OWN, label: `${viewer.email}: all that you may do` },
    ...[...workspaces].map(([value, name]) => ({
      value,
      label: `the workspace ${name}: stays when people leave`,
    })),
  ];
  return html`<section class="card">
    <header><h2>Make a token</h2></header>
    <form class="stacked" method="post" action="${PATH}">
      ${onceInput()}
      ${textField({ name: "name", label: "Name", value: typed.name, isRequired: true, hint: "What it is for, like “deploy”.", problems })}
      ${selectField({ name: "owner", label: "It belongs to", value: typed.owner }, owners)}
      ${selectField({ name: "expires", label: "It ends", value: typed.expiry }, EXPIRIES)}
      ${scopeChoices(typed.scopes, viewer.isOperator)}
      <div><button class="primary">Make the token</button></div>
    </form>
  </section>`;
}
