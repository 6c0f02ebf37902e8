import type { Steps } from "../../database/steps.ts";
import { type EndpointName, listEndpointNames } from "../../endpoints/viewable-endpoints.ts";
import { html, type Html } from "../../foundation/html.ts";
import { inNameOrder } from "../../foundation/name-order.ts";
import { MAX_BOUND, namesOf } from "../../members/membership.ts";
import type { Viewer } from "../../sessions/session.ts";
import {
  type Invitation,
  INVITATION_LIFETIME_MS,
  listInvitations,
} from "../../workspaces/invitation-store.ts";
import { labelWorkspaces } from "../../workspaces/label-workspaces.ts";
import { listMembers, type Member } from "../../workspaces/member-store.ts";
import { isInReach } from "../../workspaces/reach.ts";
import { findStanding, refusalOf, requireAnywhere } from "../../workspaces/standing.ts";
import type { Workspace } from "../../workspaces/workspace.ts";
import { getViewableWorkspace, listViewableWorkspaces } from "../../workspaces/workspace-store.ts";
import { page } from "../answer.ts";
import { emptyCard } from "../kit/empty-card.ts";
import {
  NO_PROBLEMS,
  type Option,
  type Problems,
  problemSummary,
  selectField,
  textField,
} from "../kit/field.ts";
import { onceInput } from "../kit/once.ts";
import { dueTime, time } from "../kit/time.ts";
import type { DashboardParts } from "../parts.ts";
import type { Routes } from "../routes.ts";
import { membershipFields, NEW_MEMBER, type TypedMembership } from "./member-form.ts";
import { membershipWords, ROLE_NAMES } from "./member-words.ts";

const PATH = "/dashboard/members";
/** The largest number of workspaces in the list. An operator finds others on their own page. */
const MAX_OFFERED = 500;

/** `/dashboard/members`: who sees a workspace and in which role, and who is invited. */
export function membersPages(routes: Routes, { db }: DashboardParts): void {
  routes.read("/members", async ({ viewer, query, now }) => {
    const state = await db.read(() => readMembers(viewer, query.get("workspace") ?? "", now));
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

interface Row<Person> {
  readonly person: Person;
  readonly names: readonly string[] | null;
}

export interface MembersState {
  readonly workspace: Workspace;
  /** The workspaces to choose from. */
  readonly others: readonly Option[];
  readonly members: readonly Row<Member>[];
  readonly invited: readonly Row<Invitation>[];
  /** The forms that a member can be limited to, by name. */
  readonly forms: readonly EndpointName[];
  readonly mayChange: boolean;
}

const NO_WORKSPACE = html`<div class="head"><h1>Members</h1></div>
  ${emptyCard("There is no workspace yet", "The first form makes one.", html`<a class="button" href="/dashboard/endpoints/new">Make a form</a>`)}`;

/** @throws not_found, forbidden */
export function* readMembers(viewer: Viewer, chosen: string, now: number): Steps<MembersState | null> {
  yield* requireAnywhere(viewer, "members:read");
  const offered = (yield* listViewableWorkspaces(viewer, "members:read")).slice(0, MAX_OFFERED);
  const workspace = chosen === "" ? offered[0] : yield* getViewableWorkspace(viewer, chosen);
  if (workspace === undefined) return null;
  yield* isInReach({ viewing: viewer, access: "members:read" }, workspace.id);
  const labels = yield* labelWorkspaces(offered.map(({ id }) => id));
  const forms = (yield* listEndpointNames(viewer, null))
    .filter((each) => each.workspaceId === workspace.id)
    .toSorted((left, right) => inNameOrder(left.name, right.name));
  const standing = yield* findStanding(viewer, workspace.id);
  return {
    workspace,
    others: offered
      .map(({ id }) => ({ value: id, label: labels.get(id) ?? id }))
      .toSorted((left, right) => inNameOrder(left.label, right.label)),
    members: yield* withNames(workspace, yield* listMembers(workspace.id)),
    invited: yield* withNames(workspace, yield* listInvitations(workspace.id, now)),
    forms: forms.slice(0, MAX_BOUND),
    mayChange: standing !== null && refusalOf(standing, "members:write") === null,
  };
}

function* withNames<Person extends Member | Invitation>(
  { id }: Workspace,
  people: readonly Person[],
): Steps<Row<Person>[]> {
  const rows: Row<Person>[] = [];
  for (const person of people) rows.push({ person, names: yield* namesOf(id, person.endpoints) });
  return rows;
}

/** The content of the invitation form, as it was typed. */
interface TypedInvitation {
  readonly email: string;
  readonly membership: TypedMembership;
  readonly problems: Problems;
}

const NOTHING_TYPED: TypedInvitation = { email: "", membership: NEW_MEMBER, problems: NO_PROBLEMS };

export function membersView(state: MembersState, viewer: Viewer, typed = NOTHING_TYPED): Html {
  const { workspace, others, mayChange } = state;
  return html`<div class="head">
      <h1>Members</h1>
      <span class="muted">of <bdi>${workspace.name}</bdi></span>
      ${others.length > 1 && chooser(state)}
    </div>
    ${problemSummary(typed.problems)}
    <p class="lead">Who may see the posts of this workspace, and who may change its forms. Each signs in with an account of their own.</p>
    ${mayChange ? html`<div class="two people">${peopleCard(state, viewer)}${inviteForm(state, typed)}</div>` : peopleCard(state, viewer)}`;
}

function peopleCard(state: MembersState, viewer: Viewer): Html {
  const { members, invited } = state;
  const count = members.length === 1 ? "1 member" : `${members.length} members`;
  return html`<section class="card" aria-labelledby="members">
    <header><h2 id="members">${count}</h2></header>
    <div class="scroll folds" tabindex="0" role="region" aria-label="Members">
      <table>
        <thead>
          <tr><th scope="col">Person</th><th scope="col">May</th><th scope="col">Since</th><th scope="col" class="right"><span class="hidden-text">Change</span></th></tr>
        </thead>
        <tbody>
          ${members.map((row) => memberRow(row, state, viewer))}
        </tbody>
        ${
          invited.length > 0 &&
          html`<tbody>
          <tr class="group"><th scope="rowgroup" colspan="4">Invited, not here yet</th></tr>
          ${invited.map((row) => invitedRow(row, state))}
        </tbody>`
        }
      </table>
    </div>
  </section>`;
}

function chooser({ workspace, others }: MembersState): Html {
  return html`<form class="search" action="${PATH}">
    ${selectField({ name: "workspace", label: "Workspace", value: workspace.id }, others)}<button>Show</button>
  </form>`;
}

function memberRow({ person, names }: Row<Member>, { mayChange }: MembersState, viewer: Viewer): Html {
  const isOwn = person.accountId === viewer.accountId;
  return html`<tr>
    <th scope="row"><bdi>${person.email}</bdi>${isOwn && html` <span class="muted">(you)</span>`}</th>
    ${mayCell(person, names)}
    <td data-label="Since">${time(person.since)}${person.by !== null && html`<br /><small class="muted">by <bdi>${person.by}</bdi></small>`}</td>
    <td class="right">${
      mayChange &&
      html`<a class="button" href="${pathOfMember(person)}">Change<span class="hidden-text"> ${person.email}</span></a>`
    }</td>
  </tr>`;
}

function invitedRow({ person, names }: Row<Invitation>, { mayChange }: MembersState): Html {
  const { email, by, madeAt, workspaceId } = person;
  return html`<tr>
    <th scope="row"><bdi>${email}</bdi></th>
    ${mayCell(person, names)}
    <td data-label="Since">${time(madeAt)}${by !== null && html`<br /><small class="muted">by <bdi>${by}</bdi></small>`}<small class="muted">the link ends ${dueTime(madeAt + INVITATION_LIFETIME_MS)}</small></td>
    <td class="right">${
      mayChange &&
      html`<form method="post" action="/dashboard/workspaces/${workspaceId}/members/withdraw">
        <button name="email" value="${email}">Withdraw<span class="hidden-text"> the invitation of ${email}</span></button>
      </form>`
    }</td>
  </tr>`;
}

function mayCell(person: Member | Invitation, names: readonly string[] | null): Html {
  return html`<td data-label="May"><b>${ROLE_NAMES[person.role]}</b><br /><small class="muted">${membershipWords(person, names)}</small></td>`;
}

function inviteForm(
  { workspace, forms }: MembersState,
  { email, membership, problems }: TypedInvitation,
): Html {
  return html`<section class="card" aria-labelledby="invite">
    <header><h2 id="invite">Invite someone</h2></header>
    <form class="stacked" method="post" action="/dashboard/workspaces/${workspace.id}/members">
      ${onceInput()}
      ${textField({ name: "email", label: "E-mail address", value: email, type: "email", autocomplete: "off", isRequired: true, problems })}
      ${membershipFields(membership, forms)}
      <p><button class="primary">Invite</button></p>
      <p class="hint">They get a link, good for 7 days, once, and for this address only. A second invitation replaces the first.</p>
    </form>
  </section>`;
}
