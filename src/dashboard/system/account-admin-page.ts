import type { FastifyRequest } from "fastify";
import type { Config } from "../../config/config.ts";
import type { Steps } from "../../database/steps.ts";
import { sessionEnded } from "../../foundation/events.ts";
import { html, type Html } from "../../foundation/html.ts";
import { endAccountSessions, giveSignInLink, resetTotp } from "../../sessions/sign-in-operations.ts";
import { setAccount } from "../../workspaces/account-operations.ts";
import { findCredential } from "../../sessions/credential-store.ts";
import { listSessions, type Session, type SessionSettings } from "../../sessions/session.ts";
import type { Account, Workspace } from "../../workspaces/workspace.ts";
import { getAccount, listViewableWorkspaces } from "../../workspaces/workspace-store.ts";
import { type Answer, page, redirect } from "../answer.ts";
import { listTable } from "../kit/list-card.ts";
import { createOnce, onceInput } from "../kit/once.ts";
import { ownAddress } from "../own-address.ts";
import type { DashboardParts } from "../parts.ts";
import type { Routes, Visit } from "../routes.ts";
import { operatorRoutes, systemHead } from "./system-page.ts";
import { browserOf } from "../inbox/sender-facts.ts";
import { time, timeText } from "../kit/time.ts";

const PATH = "/dashboard/system/accounts";

/** `/dashboard/system/accounts/:id`: how somebody signs in, and help when they cannot. */
export function accountAdminPages(routes: Routes, parts: DashboardParts): void {
  const { db, config, log } = parts;
  const { read, write } = operatorRoutes(routes);
  const once = createOnce((answer) => answer.kind === "page" && answer.status === 201);
  const idOf = ({ params }: Visit): string => params["id"] ?? "";
  const back = (visit: Visit, notice: string, count?: number): Answer =>
    redirect(`${PATH}/${idOf(visit)}`, notice, count);

  read("/system/accounts/:id", async (visit) => {
    const state = await db.read(() => readState(idOf(visit), visit.now, config.dashboard));
    return page(state.account.email, stateView(state, visit.viewer.accountId));
  });

  write("/system/accounts/:id/sign-in-link", async (visit) =>
    once.run(
      visit,
      async () => {
        const { account, token, expires_at } = await visit.perform(giveSignInLink, { account: idOf(visit) });
        const url = `${dashboardOrigin(visit.request, config)}/dashboard/sign-in#${token}`;
        return page("Sign-in link", linkView(account, url, Date.parse(expires_at)), 201);
      },
      () => back(visit, "link-made-already"),
    ),
  );

  write("/system/accounts/:id/operator", async (visit) => {
    const isOperator = visit.form.get("operator") === "yes";
    await visit.perform(setAccount, { account: idOf(visit), is_operator: isOperator });
    return back(visit, "saved");
  });

  write("/system/accounts/:id/reset-totp", async (visit) => {
    await visit.perform(resetTotp, { account: idOf(visit) });
    return back(visit, "factor-reset");
  });

  write("/system/accounts/:id/end-sessions", async (visit) => {
    const { ended: sessions } = await visit.perform(endAccountSessions, { account: idOf(visit) });
    if (sessions > 0) sessionEnded(log, { accountId: idOf(visit), sessions });
    return back(visit, "sessions-ended", sessions);
  });
}

/** Where the operator's own browser found the dashboard. */
function dashboardOrigin(request: FastifyRequest, config: Config): string {
  if (config.dashboard.listen === null) return ownAddress(request, config);
  return ownAddress(request, { ...config, server: { ...config.server, baseUrl: null } });
}

interface AccountState {
  readonly account: Account;
  readonly workspaces: readonly Workspace[];
  readonly sessions: readonly Session[];
  readonly hasPassword: boolean;
  readonly hasFactor: boolean;
}

function* readState(id: string, now: number, settings: SessionSettings): Steps<AccountState> {
  const account = yield* getAccount(id);
  const credential = yield* findCredential(account.id);
  return {
    account,
    workspaces: yield* listViewableWorkspaces({ accountId: account.id, isOperator: false }),
    sessions: yield* listSessions(account.id, now, settings),
    hasPassword: credential !== undefined,
    hasFactor: credential !== undefined && credential.totpSecret !== null,
  };
}

function stateView(state: AccountState, viewerId: string): Html {
  const { account, workspaces, hasPassword, hasFactor } = state;
  const path = `${PATH}/${account.id}`;
  return html`${systemHead(PATH)}
    <p class="crumbs"><a href="${PATH}">← Accounts</a></p>
    <section class="card">
      <header>
        <h2><bdi>${account.email}</bdi></h2>
        ${account.isOperator ? html`<span class="pill done">operator</span>` : html`<span class="pill">owner</span>`}
      </header>
      <dl class="facts">
        <div><dt>Password</dt><dd>${hasPassword ? "set" : "not set yet: make a sign-in link"}</dd></div>
        <div><dt>Second factor</dt><dd>${hasFactor ? "on" : "off"}</dd></div>
        <div>
          <dt>Workspaces</dt>
          <dd>${workspaces.length === 0 ? "none" : workspaces.slice(0, 50).map(({ name, plan }) => html`<bdi>${name}</bdi> (${plan}) `)}</dd>
        </div>
        <div><dt>Added</dt><dd>${time(account.createdAt)}</dd></div>
      </dl>
    </section>
    <section class="card">
      <header><h2>Signing in</h2></header>
      <div class="body">
        <p>
          A sign-in link sets the password and signs in, once and within 30 minutes. It is for the first sign-in and for a
          password that was forgotten. Earlier links stop working.
        </p>
        <form method="post" action="${path}/sign-in-link">${onceInput()}<button class="primary">Make a sign-in link</button></form>
      </div>
      ${hasFactor && factorView(path)}
    </section>
    ${sessionsCard(state, path)} ${operatorCard(account, path, viewerId)}`;
}

function factorView(path: string): Html {
  return html`<div class="body">
    <p>If the app and the recovery codes are lost, remove the second factor. It also ends all sessions.</p>
    <form method="post" action="${path}/reset-totp"><button class="danger">Remove the second factor</button></form>
  </div>`;
}

function sessionsCard({ sessions }: AccountState, path: string): Html {
  if (sessions.length === 0)
    return html`<section class="card"><header><h2>Sessions</h2></header><p class="empty">Nobody is signed in with this account.</p></section>`;
  return html`<section class="card">
    <header><h2>Sessions</h2></header>
    ${listTable({
      label: "Sessions",
      columns: ["Browser", "Network address", "Signed in", "Last used"],
      rows: sessions.map(sessionRow),
    })}
    <form class="bar" method="post" action="${path}/end-sessions"><button class="danger">End all sessions</button></form>
  </section>`;
}

function sessionRow({ userAgent, ipAddress, createdAt, seenAt }: Session): Html {
  return html`<tr>
    <th scope="row"><bdi dir="auto" title="${userAgent}">${browserOf(userAgent) ?? "An unnamed browser"}</bdi></th>
    <td data-label="Network address">${ipAddress ?? html`<span class="muted">not kept</span>`}</td>
    <td data-label="Signed in">${time(createdAt)}</td>
    <td data-label="Last used">${time(seenAt)}</td>
  </tr>`;
}

function operatorCard({ id, isOperator }: Account, path: string, viewerId: string): Html {
  return html`<section class="card">
    <header><h2>What it sees</h2></header>
    <div class="body">
      <p>
        ${
          isOperator
            ? "As an operator it sees every workspace and these System pages."
            : "It sees its own workspaces. An operator sees every workspace and these System pages."
        }
      </p>
      <form method="post" action="${path}/operator">
        ${
          isOperator
            ? html`<button class="danger" name="operator" value="no">
                ${id === viewerId ? "Give up being an operator" : "Take operator rights away"}
              </button>`
            : html`<button name="operator" value="yes">Make it an operator</button>`
        }
      </form>
    </div>
  </section>`;
}

function linkView({ id, email }: Pick<Account, "id" | "email">, url: string, expiresAt: number): Html {
  return html`${systemHead(PATH)}
    <p class="crumbs"><a href="${PATH}/${id}">← <bdi>${email}</bdi></a></p>
    <section class="once" aria-labelledby="link">
      <h2 id="link">The sign-in link of <bdi>${email}</bdi></h2>
      <p>It is shown this once: hand it over safely. It works once, until ${timeText(expiresAt)}.</p>
      <div class="secret"><code>${url}</code> <button type="button" data-copy>Copy</button></div>
    </section>`;
}
