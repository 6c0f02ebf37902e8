import type { Steps } from "../../database/steps.ts";
import { type EndpointName, listEndpointNames } from "../../endpoints/viewable-endpoints.ts";
import { FormsvcError } from "../../foundation/errors.ts";
import { html, type Html } from "../../foundation/html.ts";
import { inNameOrder } from "../../foundation/name-order.ts";
import { leaveWorkspace, removeWorkspaceMember, setMember } from "../../members/member-operations.ts";
import { MAX_BOUND } from "../../members/membership.ts";
import type { Viewer } from "../../sessions/session.ts";
import { findMember, type Member } from "../../workspaces/member-store.ts";
import { isInReach } from "../../workspaces/reach.ts";
import type { Workspace } from "../../workspaces/workspace.ts";
import { getViewableWorkspace } from "../../workspaces/workspace-store.ts";
import { type Answer, page, redirect } from "../answer.ts";
import { NO_PROBLEMS, type Problems, problemSummary, problemsFrom } from "../kit/field.ts";
import type { DashboardParts } from "../parts.ts";
import type { Routes, Visit } from "../routes.ts";
import {
  membershipFields,
  membershipInputOf,
  readMembershipForm,
  typedOf,
  type TypedMembership,
} from "./member-form.ts";
import { pathOfMember, pathOfMembers } from "./members-page.ts";

/** The error codes that mean a mistake in a form of these pages. */
const REFUSALS: ReadonlySet<string> = new Set(["usage", "conflict", "invalid_request", "not_found"]);

/** `/dashboard/workspaces/:id/members/:account`: what one member may do. Also the page for leaving a workspace. */
export function memberPages(routes: Routes, { db }: DashboardParts): void {
  const read = (visit: Visit): Promise<MemberState> =>
    Promise.resolve(
      db.read(() => readState(visit.viewer, visit.params["id"] ?? "", visit.params["account"] ?? "")),
    );

  routes.read("/workspaces/:id/members/:account", async (visit) => {
    const state = await read(visit);
    return page(state.member.email, memberView(state, typedOf(state.member), NO_PROBLEMS));
  });

  routes.write("/workspaces/:id/members/:account", async (visit) => {
    const state = await read(visit);
    const typed = readMembershipForm(visit.form);
    return orAgain(state, typed, async () => {
      const reference = { workspace: state.workspace.id, email: state.member.email };
      await visit.perform(setMember, { ...reference, ...membershipInputOf(typed) });
      return redirect(pathOfMembers(state.workspace.id), "saved");
    });
  });

  routes.write("/workspaces/:id/members/:account/remove", async (visit) => {
    const state = await read(visit);
    return orAgain(state, typedOf(state.member), async () => {
      const reference = { workspace: state.workspace.id, email: state.member.email };
      await visit.perform(removeWorkspaceMember, reference);
      return redirect(pathOfMembers(state.workspace.id), "member-removed");
    });
  });

  routes.write("/workspaces/:id/leave", async (visit) => {
    const workspace = await db.read(() => getViewableWorkspace(visit.viewer, visit.params["id"] ?? ""));
    if (visit.form.get("confirmed") !== "yes") return page("Leave?", leaveView(workspace, NO_PROBLEMS));
    try {
      await visit.perform(leaveWorkspace, { workspace: workspace.id });
      return redirect("/dashboard/account", "workspace-left");
    } catch (error) {
      const problems = problemsFrom(error, "", REFUSALS);
      return page("Leave?", leaveView(workspace, problems), 422);
    }
  });
}

interface MemberState {
  readonly workspace: Workspace;
  readonly member: Member;
  readonly forms: readonly EndpointName[];
}

/** @throws not_found, forbidden */
function* readState(viewer: Viewer, workspaceId: string, accountId: string): Steps<MemberState> {
  const workspace = yield* getViewableWorkspace(viewer, workspaceId);
  yield* isInReach({ viewing: viewer, access: "members:write" }, workspace.id);
  const member = yield* findMember(workspace.id, accountId);
  if (member === undefined) throw new FormsvcError("not_found", "there is no such member of this workspace");
  const forms = (yield* listEndpointNames(viewer, null))
    .filter((each) => each.workspaceId === workspace.id)
    .toSorted((left, right) => inNameOrder(left.name, right.name));
  return { workspace, member, forms: forms.slice(0, MAX_BOUND) };
}

async function orAgain(
  state: MemberState,
  typed: TypedMembership,
  work: () => Promise<Answer>,
): Promise<Answer> {
  try {
    return await work();
  } catch (error) {
    return page(state.member.email, memberView(state, typed, problemsFrom(error, "", REFUSALS)), 422);
  }
}

function memberView(
  { workspace, member, forms }: MemberState,
  typed: TypedMembership,
  problems: Problems,
): Html {
  const path = pathOfMember(member);
  return html`<p class="crumbs"><a href="${pathOfMembers(workspace.id)}">← Members</a></p>
    <div class="head"><h1><bdi>${member.email}</bdi></h1><span class="muted">in <bdi>${workspace.name}</bdi></span></div>
    ${problemSummary(problems)}
    <section class="part" aria-labelledby="may">
      <header><h2 id="may">What they may do</h2><p>It holds from their next click on.</p></header>
      <form class="card stacked" method="post" action="${path}">
        ${membershipFields(typed, forms)}
        <p><button class="primary">Save</button></p>
      </form>
    </section>
    <section class="part" aria-labelledby="remove">
      <header>
        <h2 id="remove" class="danger">Remove from the workspace</h2>
        <p>They see nothing of it from then on, and their tokens neither. Their account stays.</p>
      </header>
      <form class="card stacked" method="post" action="${path}/remove">
        <p>Secret keys of forms go on working: if they knew one, issue another and revoke it.</p>
        <p><button class="danger">Remove <bdi>${member.email}</bdi></button></p>
      </form>
    </section>`;
}

function leaveView({ id, name }: Workspace, problems: Problems): Html {
  return html`<h1>Leave <bdi>${name}</bdi>?</h1>
    ${problemSummary(problems)}
    <p>You see nothing of it from then on. An owner of it can invite you again.</p>
    <form class="actions-left" method="post" action="/dashboard/workspaces/${id}/leave">
      <input type="hidden" name="confirmed" value="yes" />
      <button class="danger">Leave it</button>
      <a class="button" href="/dashboard/account">Stay</a>
    </form>`;
}
