import type { Brand } from "../../foundation/brand.ts";
import { countOf } from "../../foundation/count-of.ts";
import { html, type Html } from "../../foundation/html.ts";
import type { WorkspaceContents } from "../../workspaces/delete-workspace.ts";
import type { Workspace } from "../../workspaces/workspace.ts";
import { type Option, type Problems, problemSummary, selectField, textField } from "../kit/field.ts";
import { grouped } from "../kit/numbers.ts";
import { planName } from "./plan-name.ts";
import { brandPart } from "./workspace-brand.ts";

type WorkspaceCounts = Awaited<ReturnType<WorkspaceContents["count"]>>;

/** The time zones that `Intl` lists, by region, and the chosen one, which may have an older name. */
function zoneOptions(chosen: string | null): Option[] {
  const names = Intl.supportedValuesOf("timeZone").filter((name) => name !== "UTC");
  const others = chosen === null || names.includes(chosen) ? names : [chosen, ...names];
  const listed = others.map((name) => ({ value: name, label: name.replaceAll("_", " ") }));
  return [{ value: "", label: "UTC" }, ...listed];
}

/** The roles that the former owner can keep. */
export const STAYS = [
  { value: "", label: "No member any more" },
  { value: "editor", label: "An editor" },
  { value: "reader", label: "A reader" },
] as const;

/** What was typed into the forms of the page. */
export interface TypedWorkspace {
  readonly name: string;
  readonly confirm: string;
  /** The address of the new owner; `stay` is the role that the former owner keeps. */
  readonly to: string;
  readonly stay: string;
  readonly brand: Brand;
}

export function workspaceView(
  workspace: Workspace,
  counts: WorkspaceCounts,
  typed: TypedWorkspace,
  problems: Problems,
): Html {
  const path = `/dashboard/workspaces/${workspace.id}`;
  return html`<p class="crumbs"><a href="/dashboard/usage?workspace=${workspace.id}">← Usage</a></p>
    <div class="head"><h1><bdi>${workspace.name}</bdi></h1></div>
    ${problemSummary(problems)}
    ${namePart(path, workspace, typed, problems)}
    ${zonePart(path, workspace, problems)}
    ${brandPart(path, typed.brand, problems)}
    ${transferPart(path, typed, problems)}
    ${exportPart(path)}
    ${deletePart(path, { workspace, counts, typed, problems })}`;
}

function namePart(path: string, { plan }: Workspace, { name }: TypedWorkspace, problems: Problems): Html {
  return html`<section class="part" aria-labelledby="name">
    <header><h2 id="name">Name</h2><p>What you and your colleagues call it. Its plan is ${planName(plan)}.</p></header>
    <form class="card stacked" method="post" action="${path}">
      ${textField({ name: "name", label: "Name of the workspace", value: name, isRequired: true, problems })}
      <p><button class="primary">Save the name</button></p>
    </form>
  </section>`;
}

function zonePart(path: string, { timeZone }: Workspace, problems: Problems): Html {
  return html`<section class="part" aria-labelledby="zone">
    <header><h2 id="zone">Time zone</h2><p>Of the times in e-mails. Here, times are those of your own device.</p></header>
    <form class="card stacked" method="post" action="${path}/time-zone">
      ${selectField({ name: "time_zone", label: "Time zone", value: timeZone ?? "", problems }, zoneOptions(timeZone))}
      <p><button>Save the time zone</button></p>
    </form>
  </section>`;
}

function transferPart(path: string, { to, stay }: TypedWorkspace, problems: Problems): Html {
  return html`<section class="part" aria-labelledby="transfer">
    <header><h2 id="transfer">Hand over</h2><p>Another account owns it from then on, and decides who sees it.</p></header>
    <form class="card stacked" method="post" action="${path}/transfer">
      ${textField({ name: "to", label: "E-mail address of the new owner", value: to, type: "email", hint: "Of a member of the workspace. An operator may name any account.", isRequired: true, problems, autocomplete: "off" })}
      ${selectField({ name: "stay", label: "The owner until now becomes", value: stay }, STAYS)}
      <p><button>Hand the workspace over</button></p>
    </form>
  </section>`;
}

function exportPart(path: string): Html {
  return html`<section class="part" aria-labelledby="export">
    <header><h2 id="export">Take it along</h2><p>Everything of it, but for keys, secrets and the bin.</p></header>
    <div class="card stacked">
      <p>
        A ZIP archive: the forms with their settings as <code>formsvc apply</code> takes them, submissions as
        <code>formsvc submission import</code> takes them, held posts, and the files of both.
      </p>
      <p><a class="button" download href="${path}/export.zip">Download the workspace</a></p>
    </div>
  </section>`;
}

interface Deletion {
  readonly workspace: Workspace;
  readonly counts: WorkspaceCounts;
  readonly typed: TypedWorkspace;
  readonly problems: Problems;
}

function deletePart(path: string, { workspace, counts, typed, problems }: Deletion): Html {
  const confirm = textField({
    name: "confirm",
    label: "Name of the workspace",
    value: typed.confirm,
    hint: html`Type <b dir="auto">${workspace.name}</b> to confirm.`,
    problems,
    autocomplete: "off",
  });
  return html`<section class="part" aria-labelledby="delete">
    <header>
      <h2 id="delete" class="danger">Delete this workspace</h2>
      <p>There is no way back. <a download href="${path}/export.zip">Download the workspace</a> first if you may need it.</p>
    </header>
    <form class="card stacked" method="post" action="${path}/delete">
      <p>
        ${contents(counts)} With it go its spam settings and what its filter learned, and tokens that belong to it. A form that should
        stay can be moved to another workspace before.
      </p>
      ${confirm}
      <p><button class="danger">Delete the workspace and all that is in it</button></p>
    </form>
  </section>`;
}

function numbered(count: number, one: string): string {
  return `${grouped(count)} ${count === 1 ? one : `${one}s`}`;
}

function contents({ endpoints, submissions, held }: WorkspaceCounts): string {
  if (endpoints === 0) return "It has no forms.";
  const forms = countOf(endpoints, "form");
  const verb = endpoints === 1 ? "is" : "are";
  return `${forms} ${verb} deleted for good, with ${numbered(submissions, "post")} and ${numbered(held, "held one")}.`;
}
