import type { Steps } from "../../database/steps.ts";
import { html, type Html } from "../../foundation/html.ts";
import { namesOf } from "../../members/membership.ts";
import type { Viewer } from "../../sessions/session.ts";
import { labelWorkspaces } from "../../workspaces/label-workspaces.ts";
import { listMembers, type Member } from "../../workspaces/member-store.ts";
import { isInReach } from "../../workspaces/reach.ts";
import { findStanding, refusalOf, requireAnywhere } from "../../workspaces/standing.ts";
import type { Workspace } from "../../workspaces/workspace.ts";
import { getViewableWorkspace, listViewableWorkspaces } from "../../workspaces/workspace-store.ts";
import { page } from "../answer.ts";
import { emptyCard } from "../kit/empty-card.ts";
import { type Option, selectField } from "../kit/field.ts";
import { time } from "../kit/time.ts";
import type { DashboardParts } from "../parts.ts";
import type { Routes } from "../routes.ts";
import { membershipWords, ROLE_NAMES } from "./member-words.ts";

const PATH = "/dashboard/members";
/** Workspaces that can be chosen; an operator finds the others by their own page. */
const MAX_OFFERED = 500;

/** `/dashboard/members`: who sees a workspace, and as what. */
export function membersPages(routes: Routes, { db }: DashboardParts): void {
  routes.read("/members", async ({ viewer, query }) => {
    const state = await db.read(() => readState(viewer, query.get("workspace") ?? ""));
    return page("Members", state === null ? NO_WORKSPACE : membersView(state, viewer));
  });
}

/** The address of a member's own page. */
export function pathOfMember({ workspaceId, accountId }: Pick<Member, "workspaceId" | "accountId">): string {
  return `/dashboard/workspaces/${workspaceId}/members/${accountId}`;
}

export function pathOfMembers(workspaceId: string): string {
  return `${PATH}?workspace=${workspaceId}`;
}

interface Row {
  readonly member: Member;
  readonly names: readonly string[] | null;
}

interface MembersState {
  readonly workspace: Workspace;
  /** The workspaces that can be chosen. */
  readonly others: readonly Option[];
  readonly rows: readonly Row[];
  readonly mayChange: boolean;
}

const NO_WORKSPACE = html`<div class="head"><h1>Members</h1></div>
  ${emptyCard("There is no workspace yet", "The first form makes one.", html`<a class="button" href="/dashboard/endpoints/new">Make a form</a>`)}`;

function* readState(viewer: Viewer, chosen: string): Steps<MembersState | null> {
  yield* requireAnywhere(viewer, "members:read");
  const offered = (yield* listViewableWorkspaces(viewer, "members:read")).slice(0, MAX_OFFERED);
  const workspace = chosen === "" ? offered[0] : yield* getViewableWorkspace(viewer, chosen);
  if (workspace === undefined) return null;
  yield* isInReach({ viewing: viewer, access: "members:read" }, workspace.id);
  const labels = yield* labelWorkspaces(offered.map(({ id }) => id));
  const rows: Row[] = [];
  for (const member of yield* listMembers(workspace.id))
    rows.push({ member, names: yield* namesOf(workspace.id, member.endpoints) });
  const standing = yield* findStanding(viewer, workspace.id);
  return {
    workspace,
    others: offered.map(({ id }) => ({ value: id, label: labels.get(id) ?? id })),
    rows,
    mayChange: standing !== null && refusalOf(standing, "members:write") === null,
  };
}

function membersView(state: MembersState, viewer: Viewer): Html {
  const { workspace, others, rows } = state;
  const count = rows.length === 1 ? "1 member" : `${rows.length} members`;
  return html`<div class="head">
      <h1>Members</h1>
      <span class="muted">of <bdi>${workspace.name}</bdi></span>
      ${others.length > 1 && chooser(state)}
    </div>
    <p class="lead">Who may see the posts of this workspace, and who may change its forms. Each signs in with an account of their own.</p>
    <section class="card" aria-labelledby="members">
      <header><h2 id="members">${count}</h2></header>
      <div class="scroll folds" tabindex="0" role="region" aria-label="Members">
        <table>
          <thead>
            <tr><th scope="col">Person</th><th scope="col">May</th><th scope="col">Since</th><th scope="col" class="right"><span class="hidden-text">Change</span></th></tr>
          </thead>
          <tbody>
            ${rows.map((row) => rowView(row, state, viewer))}
          </tbody>
        </table>
      </div>
    </section>`;
}

function chooser({ workspace, others }: MembersState): Html {
  return html`<form class="search" action="${PATH}">
    ${selectField({ name: "workspace", label: "Workspace", value: workspace.id }, others)}<button>Show</button>
  </form>`;
}

function rowView({ member, names }: Row, { mayChange }: MembersState, viewer: Viewer): Html {
  const isOwn = member.accountId === viewer.accountId;
  return html`<tr>
    <th scope="row"><bdi>${member.email}</bdi>${isOwn && html` <span class="muted">(you)</span>`}</th>
    <td data-label="May"><b>${ROLE_NAMES[member.role]}</b><br /><small class="muted">${membershipWords(member, names)}</small></td>
    <td data-label="Since">${time(member.since)}${member.by !== null && html`<br /><small class="muted">by <bdi>${member.by}</bdi></small>`}</td>
    <td class="right">${
      mayChange &&
      html`<a class="button" href="${pathOfMember(member)}">Change<span class="hidden-text"> ${member.email}</span></a>`
    }</td>
  </tr>`;
}
