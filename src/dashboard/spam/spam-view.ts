import type { Endpoint } from "../../endpoints/endpoint.ts";
import type { EndpointInWorkspace } from "../../endpoints/viewable-endpoints.ts";
import { html, type Html } from "../../foundation/html.ts";
import type { SpamChoices, SpamSettings } from "../../spam/spam-settings.ts";
import type { MarkedScores } from "../../submissions/find/marked-scores.ts";
import type { Preview } from "../../submissions/manage/preview-choices.ts";
import type { Workspace } from "../../workspaces/workspace.ts";
import { changedNotice } from "../kit/changed-notice.ts";
import {
  areaField,
  codeField,
  type Choice,
  choiceField,
  type Problems,
  problemSummary,
  textField,
} from "../kit/field.ts";
import { markedScoresCard } from "../inbox/marked-scores-view.ts";
import { planName } from "../system/plan-name.ts";
import { saveBar, settingsGroup, type SettingsGroup } from "../kit/settings-groups.ts";
import { SPAM_LABELS, type TypedSpam } from "./spam-form.ts";
import { previewCard } from "./spam-preview-view.ts";

/** The workspace or endpoint whose settings a page shows. */
export interface SpamScopeView {
  readonly workspace: Workspace;
  /** Null for the whole workspace. */
  readonly endpoint: Endpoint | null;
  readonly path: string;
  /** All settings in force. */
  readonly settings: SpamSettings;
  /** The form's content for the stored choices. */
  readonly saved: TypedSpam;
  /** Why the plan does not allow own settings; null if it does. */
  readonly refusal: string | null;
  /** For a workspace: its endpoints, with the names of the settings that they override. */
  readonly endpoints: readonly {
    readonly endpoint: Endpoint;
    readonly names: readonly (keyof SpamChoices)[];
  }[];
  /** The number of endpoints that are not in the list. */
  readonly more: number;
  /** Whether the viewer has several workspaces to choose from. */
  readonly isOneOfSeveral: boolean;
  /** Whether the viewer may see the settings of the whole workspace. */
  readonly seesWorkspaceSettings: boolean;
}

/** The form, and the result of the last action. */
export interface ShownSpam {
  readonly typed: TypedSpam;
  readonly problems: Problems;
  /** The fingerprint of the settings when the form was opened. */
  readonly fingerprint: string;
  readonly preview?: Preview;
  /** The titles of the submissions in the preview, by id. */
  readonly titles?: ReadonlyMap<string, string>;
  /** What somebody else changed while the form was open. */
  readonly changed?: readonly string[];
}

/** The largest number of workspaces in one list. */
const MAX_LISTED = 200;

/** @param forms the forms whose settings the viewer may change without those of the workspace */
export function spamListView(workspaces: readonly Workspace[], forms: readonly EndpointInWorkspace[]): Html {
  const isEmpty = workspaces.length + forms.length === 0;
  return html`<div class="head"><h1>Spam</h1></div>
    ${isEmpty && html`<p class="card empty">There is no workspace yet; the first form makes one.</p>`}
    ${workspaces.length > 0 && workspaceTable(workspaces)} ${forms.length > 0 && formTable(forms)}`;
}

function formTable(forms: readonly EndpointInWorkspace[]): Html {
  const rows = forms.map(({ id, name, workspaceName }) => {
    return { path: `endpoints/${id}`, name, about: html`<bdi>${workspaceName}</bdi>` };
  });
  return scopeTable("Forms", ["Form", "Workspace"], rows);
}

function workspaceTable(workspaces: readonly Workspace[]): Html {
  const rows = workspaces.map(({ id, name, plan }) => {
    return { path: `workspaces/${id}`, name, about: planName(plan) };
  });
  return scopeTable("Workspaces", ["Workspace", "Plan"], rows);
}

interface ScopeRow {
  /** The path below the page of the list. */
  readonly path: string;
  readonly name: string;
  readonly about: Html | string;
}

function scopeTable(label: string, headings: readonly [string, string], rows: readonly ScopeRow[]): Html {
  return html`<div class="card scroll fits" tabindex="0" role="region" aria-label="${label}">
    <table>
      <thead><tr><th scope="col">${headings[0]}</th><th scope="col">${headings[1]}</th></tr></thead>
      <tbody>
        ${rows.slice(0, MAX_LISTED).map(
          ({ path, name, about }) =>
            html`<tr>
              <th scope="row"><a class="link" href="/dashboard/spam/${path}"><bdi>${name}</bdi></a></th>
              <td>${about}</td>
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}

export function spamView(scope: SpamScopeView, shown: ShownSpam, marked: MarkedScores): Html {
  const { endpoint, workspace, refusal } = scope;
  return html`${wayBack(scope)}
    <div class="head"><h1>Spam settings of <bdi>${endpoint?.name ?? workspace.name}</bdi></h1></div>
    ${problemSummary(shown.problems, { ...SPAM_LABELS })}${shown.changed !== undefined && changedNotice(shown.changed)}
    ${shown.preview !== undefined && previewCard(shown.preview, shown.titles ?? new Map())}
    ${refusal === null ? settingsForm(scope, shown) : refusalCard(refusal)}
    ${markedScoresCard(marked)}${endpoint === null && endpointTable(scope)}`;
}

function wayBack(scope: SpamScopeView): Html | null {
  const { endpoint, workspace, isOneOfSeveral, seesWorkspaceSettings } = scope;
  if (endpoint !== null && !seesWorkspaceSettings)
    return html`<p class="crumbs"><a href="/dashboard/endpoints/${endpoint.id}">← <bdi>${endpoint.name}</bdi></a></p>`;
  if (endpoint !== null) {
    const path = `/dashboard/spam/workspaces/${workspace.id}`;
    return html`<p class="crumbs"><a href="${path}">← Spam settings of <bdi>${workspace.name}</bdi></a></p>`;
  }
  return isOneOfSeveral ? html`<p class="crumbs"><a href="/dashboard/spam">← Spam</a></p>` : null;
}

function refusalCard(refusal: string): Html {
  return html`<section class="card">
    <p>
      Every post gets a score from 0, genuine, to 100, spam. From 76 on it is held and not taken. The built-in settings hold here:
      ${refusal}.
    </p>
    <p class="muted">What you mark as spam or not spam in the inbox teaches the filter on every plan.</p>
  </section>`;
}

function settingsForm(scope: SpamScopeView, { typed, problems, fingerprint, preview }: ShownSpam): Html {
  const parts = (name: keyof TypedSpam) => ({ name, label: SPAM_LABELS[name], value: typed[name], problems });
  const from = scope.endpoint === null ? "the built-in setting" : "the workspace’s setting";
  const isSeen = preview !== undefined;
  const links = {
    ...parts("maxLinks"),
    hint: `More links than this cost points. Empty is ${from}${linksNow(scope.settings)}.`,
  };
  return html`<form class="parts" method="post" action="${scope.path}" data-check data-unsaved="${JSON.stringify(scope.saved)}">
    <input type="hidden" name="shown" value="${fingerprint}" />
    ${settingsGroup(scopeGroup(scope), html`${textField(links)}${choiceField(parts("technical"), kinds(from))}`)}
    ${settingsGroup(WORDS_GROUP, areaField({ ...parts("keywords"), hint: KEYWORDS_HINT }))}
    ${settingsGroup(
      SENDERS_GROUP,
      html`${areaField({ ...parts("allow"), hint: SENDERS_HINT })}${areaField({ ...parts("deny"), hint: SENDERS_HINT })}`,
    )}
    ${settingsGroup(
      EXPERTS_GROUP,
      html`<details class="expert" ${(typed.rules.trim() !== "" || problems.has("rules")) && html` open`}>
        <summary>Rules with patterns</summary>
        ${codeField({ ...parts("rules"), hint: RULES_HINT })}
      </details>`,
    )}
    ${saveBar(
      scope.path,
      isSeen
        ? "Nothing is saved yet."
        : "Before anything is saved you see what it would have done to the last 500 posts.",
      html`<button class="${isSeen ? "" : "primary"}" name="action" value="preview">See what would change</button>
        ${isSeen && html`<button class="primary" name="action" value="save">Save the settings</button>`}`,
    )}
  </form>`;
}

function scopeGroup({ endpoint }: SpamScopeView): SettingsGroup {
  const holds =
    endpoint === null
      ? "These settings hold for every form of the workspace."
      : "These settings come on top of the workspace’s, for this form alone.";
  return {
    title: "Score",
    about: `Every post gets a score from 0, genuine, to 100, spam. From 76 on it is held and not taken. ${holds}`,
  };
}

const WORDS_GROUP: SettingsGroup = {
  title: "Words",
  about: "What your own visitors never write, or what only they write.",
};
const SENDERS_GROUP: SettingsGroup = {
  title: "Senders",
  about: "Whom you know. Posts of the first are never held as spam, posts of the others always are.",
};
const EXPERTS_GROUP: SettingsGroup = { title: "For experts", about: "Patterns, where words are not enough." };

function linksNow({ maxLinks }: SpamSettings): string {
  return maxLinks >= Number.MAX_SAFE_INTEGER ? "" : `; ${maxLinks} now`;
}

function kinds(from: string): readonly Choice[] {
  return [
    { value: "", label: `As ${from}`, about: "" },
    { value: "off", label: "An ordinary form", about: "Links cost points as set above." },
    { value: "on", label: "A form for bug reports", about: "Links count half, and ten of them are normal." },
  ];
}

const KEYWORDS_HINT = html`One word or phrase a line, with its points from -100 to 100 or <code>block</code> behind an equals sign, like
  <code>casino = 40</code>. Without points it costs 25. Points below 0 speak for the sender.`;
const SENDERS_HINT =
  "One e-mail address, domain or network a line, like ada@example.com, example.com or 203.0.113.0/24.";
const RULES_HINT = html`As JSON: a list of rules, each with a <code>pattern</code> (RE2), an <code>effect</code> (points, <code>"block"</code>
  or <code>"allow"</code>) and, if it is for one field, that <code>field</code>. Like
  <code>[{"field": "message", "pattern": "crypto ?currency", "effect": 30}]</code>.`;

function endpointTable({ endpoints, more }: SpamScopeView): Html {
  if (endpoints.length === 0) return html`<p class="muted">This workspace has no forms.</p>`;
  return html`<section class="card" aria-labelledby="endpoints">
    <header><h2 id="endpoints">Forms</h2></header>
    <div class="scroll fits" tabindex="0" role="region" aria-label="Forms and their own settings">
      <table>
        <thead><tr><th scope="col">Form</th><th scope="col">Its own settings</th></tr></thead>
        <tbody>
          ${endpoints.map(
            ({ endpoint: { id, name }, names }) =>
              html`<tr>
                <th scope="row"><a class="link" href="/dashboard/spam/endpoints/${id}"><bdi>${name}</bdi></a></th>
                <td>${names.length === 0 ? html`<span class="muted">as the workspace</span>` : names.map((each) => SPAM_LABELS[each]).join(", ")}</td>
              </tr>`,
          )}
        </tbody>
      </table>
    </div>
    ${more > 0 && html`<p class="muted">${more} more forms are not shown; each has a link on its own page.</p>`}
  </section>`;
}
