import { FormsvcError } from "../../foundation/errors.ts";
import { html, type Html } from "../../foundation/html.ts";
import { inviteMember } from "../../members/invitation-operations.ts";
import { removeWorkspaceMember } from "../../members/member-operations.ts";
import { type Answer, page, redirect } from "../answer.ts";
import { copyRow } from "../forms/snippets-view.ts";
import type { Problems } from "../kit/field.ts";
import { createOnce } from "../kit/once.ts";
import { sentence } from "../kit/sentence.ts";
import { exactTime } from "../kit/time.ts";
import type { DashboardParts } from "../parts.ts";
import type { Routes, Visit } from "../routes.ts";
import { membershipInputOf, readMembershipForm } from "./member-form.ts";
import { membersView, pathOfMembers, readMembers } from "./members-page.ts";

/** The error codes that mean a mistake in the form. */
const REFUSALS: ReadonlySet<string> = new Set(["usage", "already_exists", "not_found", "rate_limited"]);

/** Invites somebody to a workspace, and withdraws invitations. A link to hand over is shown once. */
export function invitePages(routes: Routes, { db, config, dashboardUrl }: DashboardParts): void {
  const sendsLetters = config.mail.host !== null && dashboardUrl !== null;
  const once = createOnce(
    (answer) => answer.kind === "redirect" || (answer.kind === "page" && answer.status === 201),
  );

  routes.write("/workspaces/:id/members", (visit) => {
    const workspace = visit.params["id"] ?? "";
    return once.run(
      visit,
      () => invite(visit, { workspace, sendsLetters }, (problems) => again(visit, workspace, problems)),
      () => redirect(pathOfMembers(workspace), "invited-already"),
    );
  });

  routes.write("/workspaces/:id/members/withdraw", async ({ params, form, perform }) => {
    const workspace = params["id"] ?? "";
    await perform(removeWorkspaceMember, { workspace, email: form.get("email") ?? "" });
    return redirect(pathOfMembers(workspace), "invitation-withdrawn");
  });

  const again = async (
    { viewer, form, now }: Visit,
    workspace: string,
    { problems, status }: Refused,
  ): Promise<Answer> => {
    const state = await db.read(() => readMembers(viewer, workspace, now));
    if (state === null) throw new FormsvcError("not_found", "There is no such workspace.");
    const typed = { email: form.get("email") ?? "", membership: readMembershipForm(form), problems };
    return page("Members", membersView(state, viewer, typed), status);
  };
}

interface Refused {
  readonly problems: Problems;
  readonly status: number;
}

async function invite(
  { form, perform }: Visit,
  { workspace, sendsLetters }: { readonly workspace: string; readonly sendsLetters: boolean },
  again: (refused: Refused) => Promise<Answer>,
): Promise<Answer> {
  let field = "";
  try {
    const asked = membershipInputOf(readMembershipForm(form));
    field = "email";
    const made = await perform(inviteMember, { workspace, email: form.get("email") ?? "", ...asked });
    if (made.url === null) return redirect(pathOfMembers(workspace), "invited");
    return page("Invited", linkView(workspace, { ...made.invitation, url: made.url, sendsLetters }), 201);
  } catch (error) {
    if (!(error instanceof FormsvcError) || !REFUSALS.has(error.code)) throw error;
    const status = error.code === "rate_limited" ? 429 : 422;
    return again({ problems: new Map([[field, sentence(error.message)]]), status });
  }
}

interface HandedLink {
  readonly email: string;
  readonly expires_at: string;
  readonly url: string;
  /** Whether they get a letter with a link of its own too. */
  readonly sendsLetters: boolean;
}

function linkView(workspace: string, { email, expires_at: expiresAt, url, sendsLetters }: HandedLink): Html {
  return html`<div class="head"><h1>Invited: <bdi>${email}</bdi></h1></div>
    <section class="card" aria-labelledby="link">
      <header><h2 id="link">The link to hand over</h2></header>
      <div class="body">
        <p>It is shown this once. It works once, until ${exactTime(Date.parse(expiresAt))}, and for this address only. ${sendsLetters ? "They get a letter with a link too." : "This server sends no e-mail, so hand the link over yourself."}</p>
        ${copyRow("Link", url)}
        <p>Hand it to nobody else: whoever opens it first chooses the password of a new account.</p>
        <p><a class="button primary" href="${pathOfMembers(workspace)}">To the members</a></p>
      </div>
    </section>`;
}
