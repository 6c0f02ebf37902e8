import type { FastifyRequest } from "fastify";
import type { Config } from "../../config/config.ts";
import type { Steps } from "../../database/steps.ts";
import { countOf } from "../../foundation/count-of.ts";
import { FormsvcError } from "../../foundation/errors.ts";
import { sessionEnded } from "../../foundation/sign-in-events.ts";
import { html, type Html } from "../../foundation/html.ts";
import { findSecondFactors, type SecondFactors } from "../../sessions/second-factor.ts";
import { endAccountSessions, giveSignInLink, resetTotp } from "../../sessions/sign-in-operations.ts";
import { vouchForAccount } from "../../sessions/vouch-operation.ts";
import { renameAccount, setAccount } from "../../workspaces/account-operations.ts";
import { countWithAccount, deleteAccount, type GoingWithAccount } from "../../workspaces/delete-account.ts";
import { findCredential } from "../../sessions/credential-store.ts";
import { unbindAccount } from "../../sessions/oidc-operations.ts";
import { isBound } from "../../sessions/oidc-store.ts";
import { listSessions, type Session } from "../../sessions/session.ts";
import type { Account, Workspace } from "../../workspaces/workspace.ts";
import { getAccount, listViewableWorkspaces } from "../../workspaces/workspace-store.ts";
import { type Answer, page, redirect } from "../answer.ts";
import {
  checkField,
  NO_PROBLEMS,
  type Problems,
  problemSummary,
  textField,
  problemsFrom,
} from "../kit/field.ts";
import { listTable } from "../kit/list-card.ts";
import { doneSoon } from "../kit/long-work.ts";
import { createOnce, onceInput } from "../kit/once.ts";
import { ownAddress } from "../own-address.ts";
import type { DashboardParts } from "../parts.ts";
import type { Routes, Visit } from "../routes.ts";
import { operatorRoutes, systemHead } from "./system-page.ts";
import { browserOf } from "../inbox/sender-facts.ts";
import { time, timeText } from "../kit/time.ts";

const PATH = "/dashboard/system/accounts";

/** `/dashboard/system/accounts/:id`: how the holder of an account signs in, and help if they cannot. */
export function accountAdminPages(routes: Routes, parts: DashboardParts): void {
  const { config, log } = parts;
  const { read, write } = operatorRoutes(routes);
  leavingPages(routes, parts);
  const once = createOnce((answer) => answer.kind === "page" && answer.status === 201);

  read("/system/accounts/:id", async (visit) => {
    const state = await readState(parts, idOf(visit), visit.now);
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

  write("/system/accounts/:id/unbind", async (visit) => {
    await visit.perform(unbindAccount, { account: idOf(visit) });
    return back(visit, "unbound");
  });

  write("/system/accounts/:id/vouch", async (visit) => {
    await visit.perform(vouchForAccount, { account: idOf(visit) });
    return back(visit, "vouched");
  });

  write("/system/accounts/:id/end-sessions", async (visit) => {
    const { ended: sessions } = await visit.perform(endAccountSessions, { account: idOf(visit) });
    if (sessions > 0) sessionEnded(log, { accountId: idOf(visit), sessions });
    return back(visit, "sessions-ended", sessions);
  });
}

/** The pages that change an account's address, and that delete it. */
function leavingPages(routes: Routes, parts: DashboardParts): void {
  const { db, log } = parts;
  const { write } = operatorRoutes(routes);

  write("/system/accounts/:id/address", async (visit) => {
    const email = visit.form.get("email") ?? "";
    try {
      await visit.perform(renameAccount, { account: idOf(visit), email });
      return back(visit, "saved");
    } catch (error) {
      return refused(visit, error, "email", { email });
    }
  });

  write("/system/accounts/:id/delete", async (visit) => {
    const { form } = visit;
    const account = await db.read(() => getAccount(idOf(visit)));
    const confirm = form.get("confirm") ?? "";
    const withWorkspaces = form.get("with_workspaces") === "on";
    try {
      if (confirm.trim() !== account.email)
        throw new FormsvcError("usage", "type the address exactly as it is written above");
      const input = { account: account.id, with_workspaces: withWorkspaces };
      const isDone = await doneSoon(visit.perform(deleteAccount, input), log);
      return redirect(PATH, isDone ? "account-deleted" : "account-being-deleted");
    } catch (error) {
      return refused(visit, error, "confirm", { confirm, withWorkspaces });
    }
  });

  /** Shows the page again with what was typed, if the error is a mistake in the form; else throws it. */
  async function refused(visit: Visit, error: unknown, field: string, typed: Typed): Promise<Answer> {
    const problems = problemsFrom(error, field, REFUSALS);
    const state = await readState(parts, idOf(visit), visit.now);
    return page(state.account.email, stateView(state, visit.viewer.accountId, { typed, problems }), 422);
  }
}

function idOf({ params }: Visit): string {
  return params["id"] ?? "";
}

function back(visit: Visit, notice: string, count?: number): Answer {
  return redirect(`${PATH}/${idOf(visit)}`, notice, count);
}

/** The origin at which the operator's browser found the dashboard. */
function dashboardOrigin(request: FastifyRequest, config: Config): string {
  if (config.dashboard.listen === null) return ownAddress(request, config);
  return ownAddress(request, { ...config, server: { ...config.server, baseUrl: null } });
}

interface AccountState {
  readonly account: Account;
  /** The workspaces that the account is a member of. */
  readonly workspaces: readonly Workspace[];
  readonly going: GoingWithAccount;
  readonly sessions: readonly Session[];
  readonly hasPassword: boolean;
  readonly factors: SecondFactors | null;
  /** Whether the account has signed in through an OpenID issuer. */
  readonly isBound: boolean;
}

async function readState(parts: DashboardParts, id: string, now: number): Promise<AccountState> {
  const { db, config, workspaceContents } = parts;
  const state = await db.read(() => readAccount(config, id, now));
  return { ...state, going: await countWithAccount(db, id, workspaceContents) };
}

function* readAccount(config: Config, id: string, now: number): Steps<Omit<AccountState, "going">> {
  const account = yield* getAccount(id);
  const credential = yield* findCredential(account.id);
  return {
    account,
    workspaces: yield* listViewableWorkspaces({ accountId: account.id, isOperator: false }),
    sessions: yield* listSessions(account.id, now, config.dashboard),
    hasPassword: credential !== undefined,
    factors: yield* findSecondFactors(id),
    isBound: yield* isBound(account.id, null),
  };
}

/** The error codes that mean a mistake in a form of this page. */
const REFUSALS: ReadonlySet<string> = new Set(["usage", "already_exists", "conflict"]);

/** What was typed into the forms of the page. */
interface Typed {
  readonly email?: string;
  readonly confirm?: string;
  readonly withWorkspaces?: boolean;
}

interface Tried {
  readonly typed: Typed;
  readonly problems: Problems;
}

function stateView(
  state: AccountState,
  viewerId: string,
  tried: Tried = { typed: {}, problems: NO_PROBLEMS },
): Html {
  const { account, workspaces, hasPassword, factors } = state;
  const path = `${PATH}/${account.id}`;
  return html`${systemHead(PATH)}
    <p class="crumbs"><a href="${PATH}">← Accounts</a></p>
    ${problemSummary(tried.problems)}
    <section class="card">
      <header>
        <h2><bdi>${account.email}</bdi></h2>
        <span>
          ${account.isDoubtful && DOUBTFUL_PILL}
          ${account.isOperator ? html`<span class="pill done">operator</span>` : html`<span class="pill">owner</span>`}
        </span>
      </header>
      <dl class="facts">
        <div><dt>Password</dt><dd>${hasPassword ? "set" : "not set yet: make a sign-in link"}</dd></div>
        <div><dt>Second factor</dt><dd>${factorWords(factors)}</dd></div>
        <div>
          <dt>Workspaces</dt>
          <dd>${workspaces.length === 0 ? "none" : workspaces.slice(0, 50).map(({ name, plan }) => html`<bdi>${name}</bdi> (${plan}) `)}</dd>
        </div>
        <div><dt>Added</dt><dd>${time(account.createdAt)}</dd></div>
      </dl>
    </section>
    ${account.isDoubtful && doubtCard(path)}
    <section class="card">
      <header><h2>Signing in</h2></header>
      <div class="body">
        <p>
          A sign-in link signs in and, if passwords are on, sets the password, once and within 30 minutes. It is for the first
          sign-in and for a password that was forgotten. Earlier links stop working.
        </p>
        <form method="post" action="${path}/sign-in-link">${onceInput()}<button class="primary">Make a sign-in link</button></form>
      </div>
      ${factors !== null && factorView(path)}${state.isBound && boundView(path)}
    </section>
    ${sessionsCard(state, path)} ${operatorCard(account, path, viewerId)}${addressCard(state, path, tried)}${deletionCard(state, path, tried)}`;
}

/** The mark of an account in doubt, in lists and headings. */
export const DOUBTFUL_PILL = html`<span class="pill medium">address in doubt</span>`;

function doubtCard(path: string): Html {
  return html`<section class="card">
    <header><h2>Whose address this is</h2></header>
    <div class="body">
      <p>
        An owner handed the link of an invitation over, and whoever had it made this account and chose its password. So nobody knows yet that
        it belongs to the holder of the address, and neither a proxy nor an OpenID issuer is believed about it. A link to set a new
        password, which is mailed there, shows it; or you vouch for it.
      </p>
      <p>
        Vouch if the holder of the address says that the account is theirs. Its password, second factor, sessions and tokens end, because
        whoever made it may know them: its holder comes by the proxy, by the issuer, or by a sign-in link. If nobody knows who made it, delete the account instead.
      </p>
      <form method="post" action="${path}/vouch"><button class="danger">Vouch for the address</button></form>
    </div>
  </section>`;
}

function factorWords(factors: SecondFactors | null): string {
  if (factors === null) return "off";
  if (!factors.passkeys) return "on";
  return factors.app ? "an app and passkeys" : "passkeys";
}

function factorView(path: string): Html {
  return html`<div class="body">
    <p>If the app, the passkeys and the recovery codes are lost, remove the second factor. It also ends all sessions.</p>
    <form method="post" action="${path}/reset-totp"><button class="danger">Remove the second factor</button></form>
  </div>`;
}

function boundView(path: string): Html {
  return html`<div class="body">
    <p>
      It signed in by the OpenID issuer. If that knows the person anew, or the wrong one was bound, forget who it is: all sessions end,
      and whoever next comes with its address is bound to it.
    </p>
    <form method="post" action="${path}/unbind"><button class="danger">Forget who it is there</button></form>
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

function addressCard({ account }: AccountState, path: string, { typed, problems }: Tried): Html {
  return html`<section class="card">
    <header><h2>Address</h2></header>
    <form class="stacked" method="post" action="${path}/address">
      ${textField({
        name: "email",
        label: "E-mail address",
        type: "email",
        value: typed.email ?? account.email,
        hint: "It signs in with this one from then on. Password, second factor and workspaces stay.",
        autocomplete: "off",
        isRequired: true,
        problems,
      })}
      <div><button>Change the address</button></div>
    </form>
  </section>`;
}

function deletionCard({ account, going }: AccountState, path: string, { typed, problems }: Tried): Html {
  const { workspaces, contents } = going;
  const owned = countOf(workspaces.length, "workspace");
  const { endpoints, submissions, held } = contents;
  return html`<section class="card">
    <header><h2 class="danger">Delete this account</h2></header>
    <form class="stacked" method="post" action="${path}/delete">
      <p>
        There is no way back. Its sessions and tokens end. ${
          workspaces.length === 0
            ? "It is the only owner of no workspace."
            : html`It is the only owner of ${owned}, which ${workspaces.length === 1 ? "goes" : "go"} too, with ${countOf(endpoints, "form")}, ${countOf(submissions, "post")} and ${countOf(held, "held one")}, or the account stays. To keep forms, move them first.`
        }
      </p>
      ${
        workspaces.length > 0 &&
        checkField({
          name: "with_workspaces",
          label: `Delete its ${owned} with all forms and posts`,
          value: typed.withWorkspaces === true ? "on" : "",
        })
      }
      ${textField({
        name: "confirm",
        label: "Address of the account",
        value: typed.confirm ?? "",
        hint: html`Type <b>${account.email}</b> to confirm.`,
        problems,
        autocomplete: "off",
      })}
      <div><button class="danger">Delete the account</button></div>
    </form>
  </section>`;
}
