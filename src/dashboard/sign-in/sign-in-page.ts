import type { FastifyRequest } from "fastify";
import type { Steps } from "../../database/steps.ts";
import { sessionEnded } from "../../foundation/sign-in-events.ts";
import type { ErrorCode } from "../../foundation/errors.ts";
import { html, type Html } from "../../foundation/html.ts";
import type { Issuer } from "../../sessions/oidc-issuer.ts";
import type { PasswordUse } from "../../sessions/password.ts";
import type { SecondFactors } from "../../sessions/second-factor.ts";
import { endSession, findIssuerOf, isNamed } from "../../sessions/session.ts";
import type { SignIns } from "../../sessions/sign-in.ts";
import { readLink } from "../../sessions/use-link.ts";
import { DOUBTFUL } from "../../workspaces/proved-email.ts";
import { findAccountByEmail } from "../../workspaces/workspace-store.ts";
import { type Page, page, redirect } from "../answer.ts";
import { passkeyButton } from "./passkey-button.ts";
import { passkeyForm, secondProofOf } from "./passkey-sign-in-pages.ts";
import { passkeySupport } from "./relying-party.ts";
import { deadLinkProblem } from "./dead-link-view.ts";
import { type Entrance, PASSWORD_HINT, safeNext } from "./entrance.ts";
import { textField } from "../kit/field.ts";
import { type MailedEntries, openEntries } from "./mailed-entry-pages.ts";
import { wayOf } from "../own-site.ts";
import { issuerButton, oidcPages, signedOutView } from "./oidc-pages.ts";
import type { DashboardParts } from "../parts.ts";
import { orAgain, problemView } from "./retry.ts";
import type { Routes } from "../routes.ts";
import { clearSessionCookie } from "./session-cookie.ts";
import type { NamedUser } from "../trusted-user.ts";
import { tokenIn } from "./token-in.ts";

const PATH = "/dashboard/sign-in";
const TITLE = "Sign in";
const CODE_TITLE = "Second factor";
const WELCOME = "Welcome, choose a password";
const SET_PASSWORD = "Set the password and sign in";
const NAMED_VIEW = html`<h1>A proxy signs you in</h1>
  <p>There is no session here to end: the proxy in front of this server says who you are with each page. Sign out there.</p>`;

/** Why a person whom a proxy names is not signed in; null if no proxy names anybody, or if the account can be used. */
function* problemOfProxy(named: NamedUser, { reset }: Ways): Steps<string | null> {
  if (named === undefined) return null;
  if (named === null)
    return "The proxy in front of this server does not name one person, so nobody is signed in.";
  const account = yield* findAccountByEmail(named);
  if (account === undefined)
    return `The proxy in front of this server names ${named}, and no account has this address.`;
  if (!account.isDoubtful) return null;
  const orProve = reset ? " Or show it by “Forgotten your password?”, which sends an e-mail there." : "";
  return `The proxy in front of this server names ${named}. ${DOUBTFUL}${orProve}`;
}

/** The ways to sign in that a person has here. */
interface Ways extends MailedEntries {
  /** Null if people sign in only here. */
  readonly issuer: Issuer | null;
  readonly passwords: PasswordUse;
  /** Whether passkeys can be used here. */
  readonly passkeys: boolean;
}

interface EntryWays {
  readonly signIns: SignIns;
  /** Null if people sign in only here. */
  readonly issuer: Issuer | null;
  readonly named: (request: FastifyRequest) => NamedUser;
}

/** Signing in with a password, a code, a link or through an issuer, and signing out. */
export function signInPages(
  routes: Routes,
  parts: DashboardParts,
  entrance: Entrance,
  { signIns, issuer, named }: EntryWays,
): void {
  const { requireWay, clientOf, enter } = entrance;
  const { config, db } = parts;
  const passkeys = passkeySupport(config).party !== null;
  const entries: Ways = { ...openEntries(parts), issuer, passwords: config.dashboard.passwords, passkeys };
  oidcPages(routes, parts, entrance, {
    issuer,
    signIns,
    views: {
      title: TITLE,
      signIn: (next, problem) => signInView(entries, { next, problem }),
      codeTitle: CODE_TITLE,
      code: ({ ticket, factors }, next) => codeView({ ticket, next, ...shownFactors(entries, factors) }),
    },
  });
  signOutPage(routes, parts, entrance, issuer);

  routes.openRead("/sign-in", async ({ request, query }) => {
    requireWay(request);
    const problem = await db.read(() => problemOfProxy(named(request), entries));
    return page(
      TITLE,
      signInView(entries, { next: safeNext(query.get("next")), ...(problem !== null && { problem }) }),
    );
  });

  routes.openWrite("/sign-in", (visit) => {
    const { request, reply, form } = visit;
    requireWay(request);
    const [email, next] = [form.get("email") ?? "", safeNext(form.get("next"))];
    const again = (problem: string): Html => signInView(entries, { email, next, problem });
    return orAgain(TITLE, reply, again, async () => {
      const answer = await signIns.signIn(email, form.get("password") ?? "", clientOf(request));
      if (answer.kind === "signed in") return enter(visit, answer.session);
      const { ticket, factors } = answer;
      return page(CODE_TITLE, codeView({ ticket, next, ...shownFactors(entries, factors) }));
    });
  });

  routes.openWrite("/sign-in/code", (visit) => {
    const { request, reply, form } = visit;
    requireWay(request);
    const [ticket, next] = [form.get("ticket") ?? "", safeNext(form.get("next"))];
    const shown = { app: form.get("app") === "1", passkeys: form.has("passkey") };
    const again = (problem: string): Html => codeView({ ticket, next, problem, ...shown });
    return orAgain(CODE_TITLE, reply, again, async () => {
      const second = secondProofOf(visit, entrance, "code");
      return enter(visit, await signIns.giveCode(ticket, second, clientOf(request)));
    });
  });
  linkPage(routes, parts, entrance, { signIns, entries });
}

/** The page that a link from the machine leads to. */
function linkPage(
  routes: Routes,
  { db, clock }: DashboardParts,
  entrance: Entrance,
  { signIns, entries }: { readonly signIns: SignIns; readonly entries: Ways },
): void {
  const { requireWay, clientOf, enter } = entrance;
  routes.openWrite("/sign-in/link", (visit) => {
    const { request, reply, form } = visit;
    requireWay(request);
    const [token, next] = [tokenIn(form.get("token") ?? ""), safeNext(form.get("next"))];
    const isWelcome = form.get("welcome") === "1";
    const title = isWelcome ? WELCOME : TITLE;
    const again = async (problem: string, code: ErrorCode): Promise<Html | Page> => {
      const link = await db.read(() => readLink(token, clock.now()));
      if (link === undefined && code === "unauthorized") {
        const form = { next, problem: deadLinkProblem(request), ...(!isWelcome && { token }) };
        return page(title, signInView(entries, form), 404);
      }
      if (!isWelcome) return signInView(entries, { token, next, problem });
      // If the link is not valid any more, the page is no welcome, but lets people with a password sign in.
      if (link === undefined) return signInView(entries, { next, problem });
      const factors = link.factors && shownFactors(entries, link.factors);
      return welcomeView({ token, next, problem, passwords: entries.passwords, email: link.email, factors });
    };
    return orAgain(title, reply, again, async () => {
      const code = secondProofOf(visit, entrance, "link_code");
      const given = { token, newPassword: form.get("new_password") ?? "", code };
      return enter(visit, await signIns.useLink(given, clientOf(request)));
    });
  });
}

/** Ends the session here, and continues to the issuer that began it, if the issuer says how to sign out there. */
function signOutPage(
  routes: Routes,
  { db, log }: DashboardParts,
  { site }: Entrance,
  issuer: Issuer | null,
): void {
  routes.openWrite("/sign-out", async ({ request, reply, viewer }) => {
    let beganBy: string | null = null;
    if (viewer !== null && isNamed(viewer)) return page("Signed in by a proxy", NAMED_VIEW);
    if (viewer !== null) {
      const { accountId, sessionId } = viewer;
      beganBy = await db.read(() => findIssuerOf(sessionId));
      if (await db.transaction(() => endSession(accountId, sessionId)))
        sessionEnded(log, { accountId, sessions: 1 });
    }
    const way = wayOf(request, site);
    if (way !== null) clearSessionCookie(reply, way);
    if (issuer === null || beganBy !== issuer.settings.issuer) return redirect(PATH, "signed-out");
    const address = await issuer.signOutAddress();
    if (address === null) return redirect(PATH, "signed-out");
    // A form of ours may not lead to another site, not even by a redirect. This header starts a new navigation.
    reply.header("refresh", `0; url=${address}`);
    return page("Signed out", signedOutView(issuer, address));
  });
}

interface SignInForm {
  readonly next: string;
  readonly email?: string;
  /** The token of a link. If there is one, its form is shown first. */
  readonly token?: string;
  readonly problem?: string | Html;
}

function signInView(entries: Ways, { next, email = "", token, problem }: SignInForm): Html {
  const takesPasswords = entries.passwords === "on";
  return html`<h1>${withScript(TITLE, takesPasswords ? WELCOME : "Welcome")}</h1>
    ${problemView(problem)}
    ${entries.issuer !== null && issuerButton(entries.issuer, next)}
    ${entries.passkeys && takesPasswords && passkeyForm(next)}
    ${
      entries.passwords === "on" &&
      html`<section class="card by-password"><form class="stacked" method="post" action="${PATH}">
      ${nextInput(next)}
      ${textField({ name: "email", label: "E-mail address", value: email, type: "email", autocomplete: "username", isRequired: true })}
      ${textField({ name: "password", label: "Password", value: "", type: "password", autocomplete: "current-password", isRequired: true })}
      <button ${entries.issuer === null && html` class="primary"`}>Sign in</button>
      ${entries.reset && html`<p><a href="/dashboard/lost-password">Forgotten your password?</a></p>`}
      ${entries.signUp && html`<p>New here? <a href="/dashboard/sign-up">Sign up</a></p>`}
    </form></section>`
    }
    <details class="card" data-link-form ${token !== undefined && html` open`}>
      <summary data-without-link>${entries.reset || !takesPasswords ? "You have a sign-in link" : "First time here, or password forgotten"}</summary>
      <form class="stacked" method="post" action="${PATH}/link">
        <input type="hidden" name="welcome" value="" />
        <p class="hint" data-without-link>
          You need a sign-in link from whoever runs this server. It works once, for 30 minutes.
        </p>
        ${nextInput(next)}
        <div data-without-link>${textField({ name: "token", label: "Sign-in link", value: token ?? "", autocomplete: "off", hint: "The link itself, or what follows its #.", isRequired: true })}</div>
        ${takesPasswords && newPasswordField}
        <div data-without-link>${textField({ name: "link_code", label: "Code", value: "", autocomplete: "one-time-code", hint: "Only if this account has a second factor." })}</div>
        <button class="primary">${takesPasswords ? SET_PASSWORD : TITLE}</button>
        ${entries.passkeys && html`<div data-without-link>${passkeyButton("second factor", "Use a passkey in the place of the code")}</div>`}
      </form>
    </details>`;
}

/** Two texts, of which the script shows the second if the page was opened by a link. */
function withScript(without: string, withLink: string): Html {
  return html`<span data-without-link>${without}</span><span data-with-link hidden>${withLink}</span>`;
}

const newPasswordField = textField({
  name: "new_password",
  label: "New password",
  value: "",
  type: "password",
  autocomplete: "new-password",
  hint: PASSWORD_HINT,
  isRequired: true,
});

interface WelcomeForm {
  readonly passwords: PasswordUse;
  readonly token: string;
  readonly next: string;
  readonly problem: string;
  /** The address of the account, which password managers need too. */
  readonly email: string;
  /** Null if no second factor is asked for. */
  readonly factors: SecondFactors | null;
}

/** The page as the script shows it for a link, with the problem of the sent form. */
function welcomeView({ passwords, token, next, problem, email, factors }: WelcomeForm): Html {
  const takesPasswords = passwords === "on";
  return html`<h1>${takesPasswords ? WELCOME : "Welcome"}</h1>
    ${problemView(problem)}
    <section class="card"><form class="stacked" method="post" action="${PATH}/link">
      ${nextInput(next)}<input type="hidden" name="token" value="${token}" /><input type="hidden" name="welcome" value="1" />
      ${textField({ name: "email", label: "E-mail address", value: email, type: "email", autocomplete: "username", isReadOnly: true })}
      ${takesPasswords && newPasswordField}
      ${factors !== null && codeField("link_code", factors)}
      <button class="primary">${takesPasswords ? SET_PASSWORD : TITLE}</button>
      ${factors?.passkeys && passkeyButton("second factor", "Use a passkey")}
    </form></section>`;
}

interface CodeForm extends SecondFactors {
  readonly ticket: string;
  readonly next: string;
  readonly problem?: string;
}

function codeView({ ticket, next, problem, app, passkeys }: CodeForm): Html {
  return html`<h1>Second factor</h1>
    ${problemView(problem)}
    <section class="card"><form class="stacked" method="post" action="${PATH}/code">
      ${nextInput(next)}<input type="hidden" name="ticket" value="${ticket}" />
      ${app && html`<input type="hidden" name="app" value="1" />`}
      ${passkeys && passkeyButton("second factor", "Use a passkey", "primary")}
      ${codeField("code", { app, passkeys }, !passkeys && problem === undefined)}
      <button ${!passkeys && html` class="primary"`}>Sign in</button>
    </form></section>
    <p><a href="${PATH}">Begin again</a></p>`;
}

/** The input for a code. It may stay empty if a passkey is used instead. @param hasFocus whether people can type at once */
function codeField(name: string, { app, passkeys }: SecondFactors, hasFocus = false): Html {
  const hint = app
    ? "Six digits from your app, or one of your recovery codes."
    : "One of your recovery codes, if you do not have the passkey.";
  const label = app ? "Code" : "Recovery code";
  return textField({
    name,
    label,
    value: "",
    autocomplete: "one-time-code",
    hint: `${hint} Without either, ask whoever runs this server.`,
    isRequired: !passkeys,
    hasFocus,
  });
}

/** The factors that the page asks for. Passkeys are among them only if they can be used here. */
function shownFactors({ passkeys }: Ways, factors: SecondFactors): SecondFactors {
  return { ...factors, passkeys: factors.passkeys && passkeys };
}

function nextInput(next: string): Html {
  return html`<input type="hidden" name="next" value="${next}" />`;
}
