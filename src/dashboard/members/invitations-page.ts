import type { Steps } from "../../database/steps.ts";
import { html, type Html } from "../../foundation/html.ts";
import { acceptInvitation, declineInvitation } from "../../members/invitation-operations.ts";
import { namesOf } from "../../members/membership.ts";
import type { Viewer } from "../../sessions/session.ts";
import {
  type Invitation,
  INVITATION_LIFETIME_MS,
  listOwnInvitations,
} from "../../workspaces/invitation-store.ts";
import { readWorkspaceNames } from "../../workspaces/workspace-store.ts";
import { page, redirect } from "../answer.ts";
import { emptyCard } from "../kit/empty-card.ts";
import { dueTime } from "../kit/time.ts";
import type { DashboardParts } from "../parts.ts";
import type { Routes } from "../routes.ts";
import { membershipWords, ROLE_NAMES } from "./member-words.ts";

const PATH = "/dashboard/invitations";

/** `/dashboard/invitations`: the invitations of an account. */
export function invitationsPages(routes: Routes, { db }: DashboardParts): void {
  routes.read("/invitations", async ({ viewer, now }) => {
    const rows = await db.read(() => readRows(viewer, now));
    return page("Invitations", rows.length === 0 ? NOTHING : listView(rows));
  });

  routes.write("/invitations/:id/accept", async ({ params, form, perform }) => {
    const given = { invitation: params["id"] ?? "", token: form.get("token") ?? "" };
    await perform(acceptInvitation, given);
    return redirect("/dashboard", "invitation-accepted");
  });

  routes.write("/invitations/:id/decline", async ({ params, form, perform }) => {
    const given = { invitation: params["id"] ?? "", token: form.get("token") ?? "" };
    await perform(declineInvitation, given);
    return redirect(PATH, "invitation-declined");
  });
}

interface Row {
  readonly invitation: Invitation;
  readonly workspaceName: string;
  readonly names: readonly string[] | null;
}

function* readRows({ accountId }: Viewer, now: number): Steps<Row[]> {
  const invitations = yield* listOwnInvitations(accountId, now);
  const workspaces = yield* readWorkspaceNames(invitations.map(({ workspaceId }) => workspaceId));
  const rows: Row[] = [];
  for (const invitation of invitations) {
    const { workspaceId, endpoints } = invitation;
    const workspaceName = workspaces.get(workspaceId) ?? workspaceId;
    rows.push({ invitation, workspaceName, names: yield* namesOf(workspaceId, endpoints) });
  }
  return rows;
}

const NOTHING = html`<div class="head"><h1>Invitations</h1></div>
  ${emptyCard("Nobody has invited you", "If somebody invites your address to their workspace, it is here.", html`<a class="button" href="/dashboard">To the inbox</a>`)}`;

function listView(rows: readonly Row[]): Html {
  return html`<div class="head"><h1>Invitations</h1></div>
    <p class="lead">Whoever owns a workspace sees your address when you accept, and you see what the invitation offers.</p>
    <div class="card">
      <div class="scroll folds" tabindex="0" role="region" aria-label="Invitations">
        <table>
          <thead>
            <tr><th scope="col">Workspace</th><th scope="col">You may</th><th scope="col">Ends</th><th scope="col" class="right"><span class="hidden-text">Answer</span></th></tr>
          </thead>
          <tbody>
            ${rows.map(rowView)}
          </tbody>
        </table>
      </div>
    </div>`;
}

function rowView({ invitation, workspaceName, names }: Row): Html {
  const { id, by, madeAt } = invitation;
  return html`<tr>
    <th scope="row"><bdi>${workspaceName}</bdi>${by !== null && html`<br /><small class="muted">by <bdi>${by}</bdi></small>`}</th>
    <td data-label="You may"><b>${ROLE_NAMES[invitation.role]}</b><br /><small class="muted">${membershipWords(invitation, names)}</small></td>
    <td data-label="Ends">${dueTime(madeAt + INVITATION_LIFETIME_MS)}</td>
    <td class="right">${answerForms(id, workspaceName, "")}</td>
  </tr>`;
}

/** The forms for the two answers. @param token the token of the link, if one was followed; else empty */
export function answerForms(id: string, workspaceName: string, token: string): Html {
  const form = (verb: string, button: Html): Html =>
    html`<form method="post" action="${PATH}/${id}/${verb}">${token !== "" && html`<input type="hidden" name="token" value="${token}" />`}${button}</form>`;
  const of = html`<span class="hidden-text"> the invitation to ${workspaceName}</span>`;
  return html`<div class="actions-left">
    ${form("accept", html`<button class="primary">Accept${of}</button>`)}
    ${form("decline", html`<button>Decline${of}</button>`)}
  </div>`;
}
