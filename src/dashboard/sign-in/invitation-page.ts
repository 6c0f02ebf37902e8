import type { FastifyRequest } from "fastify";
import type { ErrorCode } from "../../foundation/errors.ts";
import { html, type Html } from "../../foundation/html.ts";
import { isSameAddress } from "../../foundation/mail-address.ts";
import type { ShownInvitation } from "../../sessions/accept-invitation.ts";
import type { SignIns } from "../../sessions/sign-in.ts";
import { type Page, page, redirect } from "../answer.ts";
import { textField } from "../kit/field.ts";
import { answerForms } from "../members/invitations-page.ts";
import { membershipWords, ROLE_NAMES } from "../members/member-words.ts";
import type { OpenVisit, Routes } from "../routes.ts";
import type { PasswordUse } from "../../sessions/password.ts";
import { deadLinkPage } from "./dead-link-view.ts";
import { type Entrance, PASSWORD_HINT } from "./entrance.ts";
import { orAgain, problemView } from "./retry.ts";
import { tokenIn } from "./token-in.ts";
import type { NamedUser } from "../trusted-user.ts";

const PATH = "/dashboard/invitation";
const TITLE = "Invitation";

/** The ways to sign in here. */
interface Ways {
  readonly signIns: SignIns;
  readonly passwords: PasswordUse;
  /** Whether an OpenID issuer makes the account of an invited person. */
  readonly hasIssuer: boolean;
  readonly named: (request: FastifyRequest) => NamedUser;
}

/**
 * `/dashboard/invitation`: the page that the link of an invitation leads to. The token stands after the #, which no server sees, and is
 * sent only by POST. So programs that follow the links of an e-mail change nothing.
 */
export function invitationPages(routes: Routes, { requireWay, clientOf, enter }: Entrance, ways: Ways): void {
  const { signIns, named } = ways;
  const shownView = ({ viewer, request }: OpenVisit, ...shown: ShownWith): Html =>
    invitationView({ ...ways, viewerEmail: viewer?.email ?? null, namedAs: named(request) }, ...shown);

  routes.openRead("/invitation", ({ request }) => {
    requireWay(request);
    return page(TITLE, askView());
  });

  routes.openWrite("/invitation", (visit) => {
    const { form, reply, request } = visit;
    const token = tokenIn(form.get("token") ?? "");
    const again = (problem: string, code: ErrorCode): Html | Page =>
      code === "unauthorized" ? deadLinkPage(request, null) : askView(problem);
    return orAgain(TITLE, reply, again, async () => {
      const shown = await signIns.showInvitation(token, clientOf(request));
      return page(TITLE, shownView(visit, shown, token));
    });
  });

  routes.openWrite("/invitation/accept", (visit) => {
    const { form, reply, request } = visit;
    const token = tokenIn(form.get("token") ?? "");
    const client = clientOf(request);
    const again = async (problem: string, code: ErrorCode): Promise<Html | Page> => {
      // Whoever tried too often does not learn whether the token is right.
      if (code === "rate_limited") return askView(problem);
      const shown = await signIns.showInvitationAgain(token);
      if (shown !== undefined) return shownView(visit, shown, token, problem);
      return code === "unauthorized" ? deadLinkPage(request, null) : askView(problem);
    };
    return orAgain(TITLE, reply, again, async () => {
      const email = named(request);
      if (typeof email === "string") {
        await signIns.acceptAsNamed({ token, email }, client);
        return redirect("/dashboard");
      }
      const newPassword = form.get("new_password") ?? "";
      return enter(visit, await signIns.acceptInvitation({ token, newPassword }, client));
    });
  });
}

/** Asks for the link. Without script, people paste it. */
function askView(problem?: string): Html {
  return html`<h1>${TITLE}</h1>
    ${problemView(problem)}
    <section class="card"><form class="stacked" method="post" action="${PATH}" data-invitation>
      ${textField({ name: "token", label: "Link of the invitation", value: "", autocomplete: "off", hint: "The link itself, or what follows its #.", isRequired: true })}
      <button class="primary">See the invitation</button>
    </form></section>
    ${toSignIn}`;
}

type ShownWith = [shown: ShownInvitation, token: string, problem?: string];

/** The person who looks at an invitation, and the ways to sign in. */
interface Guest extends Pick<Ways, "passwords" | "hasIssuer"> {
  /** Null if nobody is signed in. */
  readonly viewerEmail: string | null;
  readonly namedAs: NamedUser;
}

function invitationView(guest: Guest, ...[shown, token, problem]: ShownWith): Html {
  const { workspaceName, by, email, membership, names } = shown;
  return html`<h1>You are invited</h1>
    ${problemView(problem)}
    <section class="card"><div class="body">
      <p>${by === null ? "Whoever runs this server" : html`<bdi>${by}</bdi>`} invites <b><bdi>${email}</bdi></b> to the workspace <b><bdi>${workspaceName}</bdi></b>.</p>
      <p><b>${ROLE_NAMES[membership.role]}</b>: ${membershipWords(membership, names)}.</p>
    </div>
    ${answerView(guest, shown, token)}</section>
    ${guest.viewerEmail === null && typeof guest.namedAs !== "string" && toSignIn}`;
}

function answerView(guest: Guest, shown: ShownInvitation, token: string): Html {
  const { viewerEmail, namedAs } = guest;
  const { id, email, workspaceName, hasAccount } = shown;
  const isInvited = (address: string): boolean => isSameAddress(address, email);
  if (viewerEmail !== null && isInvited(viewerEmail))
    return html`<div class="body">${answerForms(id, workspaceName, token)}</div>`;
  if (viewerEmail !== null)
    return html`<form class="stacked" method="post" action="/dashboard/sign-out">
      <p>You are signed in as <bdi>${viewerEmail}</bdi>, and the invitation is for another address. Sign out, and open the link again.</p>
      <button>Sign out</button>
    </form>`;
  if (typeof namedAs === "string" && !isInvited(namedAs))
    return html`<div class="body"><p>The proxy in front of this server names <bdi>${namedAs}</bdi>, and the invitation is for another address. Sign out there, and open the link again.</p></div>`;
  return hasAccount
    ? signInView("There is an account with this address.")
    : newcomerView(guest, email, token);
}

/** The view for a person without an account. */
function newcomerView({ namedAs, passwords, hasIssuer }: Guest, email: string, token: string): Html {
  const isNamed = typeof namedAs === "string";
  if (!isNamed && passwords === "off")
    return hasIssuer
      ? signInView("You have no account here yet; it is made when you sign in.")
      : html`<div class="body"><p>You have no account here yet. Open the link through the proxy that signs people in here.</p></div>`;
  return html`<form class="stacked" method="post" action="${PATH}/accept">
    <input type="hidden" name="token" value="${token}" />
    ${
      isNamed
        ? html`<p class="hint">You have no account here yet. It is made, and the proxy in front of this server signs you in.</p>`
        : html`<p class="hint">You have no account here yet. Choose a password, and it is made.</p>
    ${textField({ name: "email", label: "E-mail address", value: email, type: "email", autocomplete: "username", isReadOnly: true })}
    ${textField({ name: "new_password", label: "New password", value: "", type: "password", autocomplete: "new-password", hint: PASSWORD_HINT, isRequired: true })}`
    }
    <button class="primary">Make the account and accept</button>
  </form>`;
}

function signInView(reason: string): Html {
  return html`<div class="body">
    <p>${reason} Sign in with the address, and accept the invitation under Invitations, or open the link again.</p>
    <p><a class="button primary" href="/dashboard/sign-in?next=%2Fdashboard%2Finvitations">Sign in</a></p>
  </div>`;
}

const toSignIn = html`<p><a href="/dashboard/sign-in">Sign in</a></p>`;
