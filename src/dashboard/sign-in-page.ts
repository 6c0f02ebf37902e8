import type { FastifyRequest } from "fastify";
import { FormsvcError } from "../foundation/errors.ts";
import { sessionEnded } from "../foundation/events.ts";
import { html, type Html } from "../foundation/html.ts";
import { compileNetworks } from "../foundation/ip-address.ts";
import { MIN_PASSWORD_BYTES } from "../sessions/password.ts";
import { endSession, type StartedSession } from "../sessions/session.ts";
import type { Client, SignIns } from "../sessions/sign-in.ts";
import { type Answer, page, redirect } from "./answer.ts";
import { textField } from "./field.ts";
import { PLAIN_HTTP, wayOf } from "./own-site.ts";
import type { DashboardParts } from "./parts.ts";
import { orAgain, problemView } from "./retry.ts";
import type { OpenVisit, Routes } from "./routes.ts";
import { clearSessionCookie, setSessionCookie, type Way } from "./session-cookie.ts";

const PATH = "/dashboard/sign-in";
const TITLE = "Sign in";
const CODE_TITLE = "Second factor";
const DAY_SECONDS = 86_400;

/** Signing in with a password, a code or a link, and signing out. */
export function signInPages(routes: Routes, parts: DashboardParts, signIns: SignIns): void {
  const { config, db, log } = parts;
  const site = { baseUrl: config.server.baseUrl, trustedProxies: compileNetworks(config.server.trustProxy) };
  const maxAgeSeconds = config.dashboard.sessionMaxDays * DAY_SECONDS;

  /** @throws forbidden when a password could be read on the way. */
  const requireWay = (request: FastifyRequest): Way => {
    const way = wayOf(request, site);
    if (way === null) throw new FormsvcError("forbidden", PLAIN_HTTP);
    return way;
  };
  /** The browser gets the cookie of its new session; the one that it had before ends. */
  const enter = async (
    { request, reply, viewer, form }: OpenVisit,
    session: StartedSession,
  ): Promise<Answer> => {
    if (viewer !== null) await db.transaction(() => endSession(viewer.accountId, viewer.sessionId));
    setSessionCookie(reply, requireWay(request), session.cookie, maxAgeSeconds);
    return redirect(safeNext(form.get("next")));
  };

  routes.openRead("/sign-in", ({ request, query }) => {
    requireWay(request);
    return page(TITLE, signInView({ next: safeNext(query.get("next")) }));
  });

  routes.openWrite("/sign-in", (visit) => {
    const { request, reply, form } = visit;
    requireWay(request);
    const [email, next] = [form.get("email") ?? "", safeNext(form.get("next"))];
    const again = (problem: string): Html => signInView({ email, next, problem });
    return orAgain(TITLE, reply, again, async () => {
      const answer = await signIns.signIn(email, form.get("password") ?? "", clientOf(request));
      if (answer.kind === "signed in") return enter(visit, answer.session);
      return page(CODE_TITLE, codeView({ ticket: answer.ticket, next }));
    });
  });

  routes.openWrite("/sign-in/code", (visit) => {
    const { request, reply, form } = visit;
    requireWay(request);
    const [ticket, next] = [form.get("ticket") ?? "", safeNext(form.get("next"))];
    const again = (problem: string): Html => codeView({ ticket, next, problem });
    return orAgain(CODE_TITLE, reply, again, async () =>
      enter(visit, await signIns.giveCode(ticket, form.get("code") ?? "", clientOf(request))),
    );
  });

  routes.openWrite("/sign-in/link", (visit) => {
    const { request, reply, form } = visit;
    requireWay(request);
    const [token, next] = [tokenIn(form.get("token") ?? ""), safeNext(form.get("next"))];
    const again = (problem: string): Html => signInView({ token, next, problem });
    return orAgain(TITLE, reply, again, async () => {
      const given = { token, newPassword: form.get("new_password") ?? "", code: form.get("link_code") ?? "" };
      return enter(visit, await signIns.useLink(given, clientOf(request)));
    });
  });

  routes.openWrite("/sign-out", async ({ request, reply, viewer }) => {
    if (viewer !== null) {
      const { accountId, sessionId } = viewer;
      if (await db.transaction(() => endSession(accountId, sessionId)))
        sessionEnded(log, { accountId, sessions: 1 });
    }
    const way = wayOf(request, site);
    if (way !== null) clearSessionCookie(reply, way);
    return redirect(PATH, "signed-out");
  });
}

function clientOf({ clientAddress, headers }: FastifyRequest): Client {
  return { address: clientAddress, userAgent: headers["user-agent"] ?? "" };
}

/** People paste the whole link. */
function tokenIn(text: string): string {
  return text.slice(text.lastIndexOf("#") + 1).trim();
}

/** A page of ours to go to after the sign-in; the inbox for anything else. */
export function safeNext(text: string | null): string {
  const base = "http://dashboard.invalid";
  const url = URL.canParse(text ?? "", base) ? new URL(text ?? "", base) : null;
  const isOurs = url !== null && url.origin === base && /^\/dashboard(?:\/|$)/.test(url.pathname);
  return isOurs && !url.pathname.startsWith("/dashboard/sign-") ? url.pathname + url.search : "/dashboard";
}

interface SignInForm {
  readonly next: string;
  readonly email?: string;
  /** Of a link; the form for it is then the one that is shown first. */
  readonly token?: string;
  readonly problem?: string;
}

function signInView({ next, email = "", token, problem }: SignInForm): Html {
  return html`<h1>Sign in</h1>
    ${problemView(problem)}
    <section class="card by-password"><form class="stacked" method="post" action="${PATH}">
      ${nextInput(next)}
      ${textField({ name: "email", label: "E-mail address", value: email, type: "email", autocomplete: "username", isRequired: true })}
      ${textField({ name: "password", label: "Password", value: "", type: "password", autocomplete: "current-password", isRequired: true })}
      <button class="primary">Sign in</button>
    </form></section>
    <details class="card" data-link-form ${token !== undefined && html` open`}>
      <summary>First time here, or password forgotten</summary>
      <form class="stacked" method="post" action="${PATH}/link">
        <p class="hint">
          You need a sign-in link from whoever runs this server. It works once, for 30 minutes.
        </p>
        ${nextInput(next)}
        ${textField({ name: "token", label: "Sign-in link", value: token ?? "", autocomplete: "off", hint: "The link itself, or what follows its #.", isRequired: true })}
        ${textField({ name: "new_password", label: "New password", value: "", type: "password", autocomplete: "new-password", hint: PASSWORD_HINT, isRequired: true })}
        ${textField({ name: "link_code", label: "Code", value: "", autocomplete: "one-time-code", hint: "Only if this account has a second factor." })}
        <button class="primary">Set the password and sign in</button>
      </form>
    </details>`;
}

export const PASSWORD_HINT = `${MIN_PASSWORD_BYTES} characters or more. Several words are easy to remember and hard to guess.`;

interface CodeForm {
  readonly ticket: string;
  readonly next: string;
  readonly problem?: string;
}

function codeView({ ticket, next, problem }: CodeForm): Html {
  return html`<h1>Second factor</h1>
    ${problemView(problem)}
    <section class="card"><form class="stacked" method="post" action="${PATH}/code">
      ${nextInput(next)}<input type="hidden" name="ticket" value="${ticket}" />
      ${textField({ name: "code", label: "Code", value: "", autocomplete: "one-time-code", hint: "Six digits from your app, or one of your recovery codes.", isRequired: true })}
      <button class="primary">Sign in</button>
    </form></section>
    <p><a href="${PATH}">Begin again</a></p>`;
}

function nextInput(next: string): Html {
  return html`<input type="hidden" name="next" value="${next}" />`;
}
