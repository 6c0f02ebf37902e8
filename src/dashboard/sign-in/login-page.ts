import { FormsvcError } from "../../foundation/errors.ts";
import { html } from "../../foundation/html.ts";
import type { Viewer } from "../../sessions/session.ts";
import { approveLogin, denyLogin } from "../../tokens/login-operations.ts";
import { findWaitingLogin, LOGIN_MS, type LoginRequest, readUserCode } from "../../tokens/login-store.ts";
import { type Answer, page } from "../answer.ts";
import { NO_PROBLEMS, type Problems, problemSummary, textField, problemsFrom } from "../kit/field.ts";
import { time } from "../kit/time.ts";
import type { DashboardParts } from "../parts.ts";
import type { Routes, Visit } from "../routes.ts";
import { scopeChoices, scopesOf } from "./scope-choices.ts";

const PATH = "/dashboard/login";
/** The limit of wrong codes that an account may type while a code is valid. */
const WRONG_CODES = { max: 10, windowSeconds: LOGIN_MS / 1000 };

/** `/dashboard/login`: lets a command line in by the code that it shows. Opening the page decides nothing. */
export function loginPages(routes: Routes, { db, limiter }: DashboardParts): void {
  /** Finds the login of a code; null for a wrong code, which is counted. @throws rate_limited */
  const find = async ({ viewer, now }: Visit, typed: string): Promise<LoginRequest | null> => {
    const unit = `login code ${viewer.accountId}`;
    const state = limiter.look(unit, WRONG_CODES);
    if (state?.allowed === false)
      throw new FormsvcError("rate_limited", "Too many wrong codes. Begin again in ten minutes.", {
        retryAfterSeconds: state.resetSeconds,
      });
    const login = await db.read(() => findWaitingLogin(readUserCode(typed), now));
    if (login === undefined) limiter.count(unit, WRONG_CODES);
    return login ?? null;
  };

  routes.read("/login", async (visit) => {
    const typed = visit.query.get("code");
    if (typed === null) return askForCode(NO_PROBLEMS, "");
    const login = await find(visit, typed);
    return login === null ? wrongCode(typed) : ask(login, visit.viewer);
  });

  routes.write("/login/approve", async (visit) => {
    const { form, perform, viewer } = visit;
    const login = await find(visit, form.get("code") ?? "");
    if (login === null) return wrongCode(form.get("code") ?? "");
    const scopes = scopesOf(form);
    try {
      await perform(approveLogin, { code: login.userCode, scopes });
    } catch (error) {
      return ask({ ...login, scopes }, viewer, problemsFrom(error, ""));
    }
    return decided(
      "Approved",
      "Go back to the terminal: it has its token now. The page Tokens of your account shows what it does, and revokes it.",
    );
  });

  routes.write("/login/deny", async (visit) => {
    const login = await find(visit, visit.form.get("code") ?? "");
    if (login === null) return wrongCode(visit.form.get("code") ?? "");
    await visit.perform(denyLogin, { code: login.userCode });
    return decided("Denied", "It got no token.");
  });
}

function wrongCode(typed: string): Answer {
  const problem = "No command line waits with this code. It holds for ten minutes, and once.";
  return askForCode(new Map([["code", problem]]), typed.slice(0, 20));
}

function askForCode(problems: Problems, typed: string): Answer {
  const content = html`<div class="head"><h1>Log a command line in</h1></div>
    ${problemSummary(problems)}
    <section class="card">
      <form class="stacked" method="get" action="${PATH}">
        ${textField({ name: "code", label: "The code that it shows", value: typed, isRequired: true, hint: "Like BCDF-GHJK.", problems })}
        <div><button class="primary">Go on</button></div>
      </form>
    </section>`;
  return page("Log a command line in", content, problems.size === 0 ? 200 : 422);
}

function ask(login: LoginRequest, viewer: Viewer, problems: Problems = NO_PROBLEMS): Answer {
  const { userCode, clientName, clientAddress, createdAt, scopes } = login;
  const content = html`<div class="head"><h1>Log a command line in</h1></div>
    ${problemSummary(problems)}
    <section class="card">
      <div class="body">
        <p><b><bdi>${clientName}</bdi></b> asks for a token of ${viewer.email}, from the address ${clientAddress}, ${time(createdAt)}.</p>
        <p>Approve it only if you began this yourself, and your terminal shows the code <b class="mono">${userCode}</b>.</p>
      </div>
      <form class="stacked" method="post" action="${PATH}/approve">
        <input type="hidden" name="code" value="${userCode}" />
        ${scopeChoices(scopes, viewer.isOperator)}
        <div><button class="primary">Approve</button></div>
      </form>
      <form class="stacked" method="post" action="${PATH}/deny">
        <input type="hidden" name="code" value="${userCode}" />
        <div><button class="danger">Deny</button></div>
      </form>
    </section>`;
  return page("Log a command line in", content, problems.size === 0 ? 200 : 422);
}

function decided(title: string, sentence: string): Answer {
  return page(title, html`<div class="head"><h1>${title}</h1></div><p>${sentence}</p>`);
}
