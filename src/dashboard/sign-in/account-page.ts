import { sessionEnded } from "../../foundation/sign-in-events.ts";
import { html, type Html } from "../../foundation/html.ts";
import { type SecurityParts, setOwnPassword } from "../../sessions/security-operations.ts";
import { countRecoveryCodes, findCredential } from "../../sessions/credential-store.ts";
import { listPasskeys, type Passkey } from "../../sessions/passkey-store.ts";
import type { PasswordUse } from "../../sessions/password.ts";
import { endOwnSessions } from "../../sessions/sign-in-operations.ts";
import { listSessions, type Session, type Viewer } from "../../sessions/session.ts";
import { listOwnMemberships, type OwnMembership } from "../../workspaces/member-store.ts";
import { page, redirect } from "../answer.ts";
import { PASSWORD_HINT } from "./entrance.ts";
import { textField } from "../kit/field.ts";
import { keysSetting } from "../assets/keys-dialog.ts";
import type { DashboardParts } from "../parts.ts";
import { type Perform, performers } from "../perform.ts";
import { settingsGroup, settingsPart } from "../kit/settings-groups.ts";
import { ownWorkspacesPart } from "../members/own-workspaces.ts";
import { passkeysPart } from "./passkeys-part.ts";
import { type PasskeySupport, passkeySupport } from "./relying-party.ts";
import { orAgain, problemView } from "./retry.ts";
import type { Routes, Visit } from "../routes.ts";
import { browserOf } from "../inbox/sender-facts.ts";
import { time } from "../kit/time.ts";

const PATH = "/dashboard/account";
const TITLE = "Account";

/** `/dashboard/account`: a person's own password, second factor and sessions. */
export function accountPages(routes: Routes, parts: EntryParts): void {
  const { log } = parts;
  const view = async (viewer: Viewer, now: number, problem?: string): Promise<Html> =>
    accountView({
      viewer,
      problem,
      passwords: parts.passwords,
      support: passkeySupport(parts.config),
      ...(await readState(parts, viewer, now)),
    });

  routes.read("/account", async ({ viewer, now }) => page(TITLE, await view(viewer, now)));

  routes.write("/account/password", (visit) => {
    const { viewer, now, form, reply } = visit;
    const again = (problem: string): Promise<Html> => view(viewer, now, problem);
    return orAgain(TITLE, reply, again, async () => {
      const passwords = { password: typedPassword(form), new_password: form.get("new_password") ?? "" };
      await ownPerform(parts, visit)(setOwnPassword, passwords);
      return redirect(PATH, "password-changed");
    });
  });

  routes.write("/account/sessions/end", async ({ viewer, form, perform }) => {
    const id = form.get("session") ?? "";
    const which = id === "others" ? { all_but: viewer.sessionId } : { session: id };
    const { ended } = await perform(endOwnSessions, which);
    if (ended > 0) sessionEnded(log, { accountId: viewer.accountId, sessions: ended });
    return redirect(PATH, "sessions-ended", ended);
  });
}

/** What the pages need that change how a person signs in, except who the person is. */
export type EntryParts = DashboardParts &
  Pick<SecurityParts, "prover" | "ownerNotifier" | "passwords" | "party">;

/** Returns `perform` for operations by which people change their own sign-in. */
export function ownPerform(parts: EntryParts, visit: Visit): Perform<EntryParts & SecurityParts> {
  const { viewer, request } = visit;
  return performers({ ...parts, viewer, address: request.clientAddress }, visit).perform;
}

/** The present password that was typed. */
export function typedPassword(form: URLSearchParams): string {
  return form.get("password") ?? "";
}

interface AccountState {
  readonly hasFactor: boolean;
  readonly passkeys: readonly Passkey[];
  readonly recoveryCodes: number;
  readonly sessions: readonly Session[];
  readonly workspaces: readonly OwnMembership[];
}

function readState(
  { db, config }: DashboardParts,
  { accountId }: Viewer,
  now: number,
): Promise<AccountState> {
  return db.read(function* () {
    const credential = yield* findCredential(accountId);
    return {
      hasFactor: credential !== undefined && credential.totpSecret !== null,
      passkeys: yield* listPasskeys(accountId),
      recoveryCodes: yield* countRecoveryCodes(accountId),
      sessions: yield* listSessions(accountId, now, config.dashboard),
      workspaces: yield* listOwnMemberships(accountId),
    };
  });
}

interface AccountParts extends AccountState {
  readonly viewer: Viewer;
  readonly problem: string | undefined;
  readonly passwords: PasswordUse;
  readonly support: PasskeySupport;
}

function accountView(parts: AccountParts): Html {
  const { viewer, problem, passwords, hasFactor, recoveryCodes, sessions, workspaces, ...own } = parts;
  const codesHere = hasFactor ? null : recoveryCodes;
  return html`<div class="head">
      <h1>Account</h1>
      <span class="muted"><bdi>${viewer.email}</bdi></span>
    </div>
    ${problemView(problem)}
    <div class="parts">
      ${passwords === "on" && passwordPart(viewer)}
      ${(passwords === "on" || hasFactor) && factorPart(hasFactor, recoveryCodes)}
      ${passkeysPart({ ...own, isAlone: passwords === "on", recoveryCodes: codesHere })}
      <div class="needs-script">${settingsGroup({ title: "Keyboard", about: "In lists, keys do what the buttons do." }, keysSetting)}</div>
      ${ownWorkspacesPart(workspaces)}
      ${sessionsPart(sessions, viewer.sessionId)}
      ${settingsGroup(
        { title: "Tokens", about: "With a token, a program does what you do here, over the API." },
        html`<p><a class="button" href="${PATH}/tokens">See and make tokens</a></p>`,
      )}
    </div>`;
}

function passwordPart(viewer: Viewer): Html {
  return settingsPart(
    {
      title: "Password",
      about: "Every other browser that is signed in with this account is signed out when you change it.",
    },
    html`<div class="card">
          <form class="stacked" method="post" action="${PATH}/password">
            ${presentPassword(viewer)}
            ${textField({ name: "new_password", label: "New password", value: "", type: "password", autocomplete: "new-password", hint: PASSWORD_HINT, isRequired: true })}
            <p><button class="primary">Change the password</button></p>
          </form>
        </div>`,
  );
}

/** The input for the present password, and the address, because password managers look for both. */
export function presentPassword({ email }: Viewer, passwords: PasswordUse = "on"): Html {
  if (passwords === "off")
    return html`<p class="hint">You may change this for 15 minutes after you signed in.</p>`;
  const parts = { label: "Present password", value: "", autocomplete: "current-password", isRequired: true };
  return html`<input type="text" autocomplete="username" value="${email}" readonly hidden />
    ${textField({ name: "password", type: "password", ...parts })}`;
}

/** The input by which a person proves who they are: the password, if there is one. */
export async function proofField(
  { db, passwords }: Pick<EntryParts, "db" | "passwords">,
  viewer: Viewer,
): Promise<Html> {
  const credential = await db.read(() => findCredential(viewer.accountId));
  return presentPassword(viewer, credential === undefined ? "off" : passwords);
}

function factorPart(hasFactor: boolean, recoveryCodes: number): Html {
  const path = `${PATH}/second-factor`;
  const state = html`<span class="${hasFactor ? "pill done" : "pill"}">${hasFactor ? "on" : "off"}</span>`;
  return settingsGroup(
    {
      title: "Second factor",
      about: "With an app on your phone, a stolen password alone does not let anybody in.",
    },
    html`<p>
        ${state}
        ${hasFactor ? `Signing in asks for a code from your app. Of your recovery codes, ${recoveryCodes} are left.` : "Signing in asks for no code from an app."}
      </p>
      <p>
        <a class="button" href="${path}">${hasFactor ? "Renew the recovery codes, or switch it off" : "Set it up"}</a>
      </p>`,
  );
}

function sessionsPart(sessions: readonly Session[], ownId: string): Html {
  return settingsPart(
    {
      title: "Signed-in browsers",
      about: "One that you do not know? Sign it out, and change your password.",
    },
    html`<div class="card">
      <div class="scroll folds" tabindex="0" role="region" aria-label="Browsers that are signed in">
        <table>
          <thead>
            <tr><th scope="col">Browser</th><th scope="col">Signed in</th><th scope="col">Last used</th><th scope="col" class="right"><span class="hidden-text">End</span></th></tr>
          </thead>
          <tbody>
            ${sessions.map((session) => sessionRow(session, session.id === ownId))}
          </tbody>
        </table>
      </div>
      ${
        sessions.length > 1 &&
        html`<form class="body" method="post" action="${PATH}/sessions/end">
          <button name="session" value="others">Sign out all others</button>
        </form>`
      }
    </div>`,
  );
}

function sessionRow({ id, userAgent, ipAddress, createdAt, seenAt }: Session, isOwn: boolean): Html {
  const name = browserOf(userAgent) ?? "An unnamed browser";
  return html`<tr>
    <th scope="row">
      <bdi title="${userAgent}">${name}</bdi>${ipAddress !== null && html` <span class="muted">${ipAddress}</span>`}
    </th>
    <td data-label="Signed in">${time(createdAt)}</td>
    <td data-label="Last used">${time(seenAt)}</td>
    <td class="right">
      ${
        isOwn
          ? html`<span class="pill done">this one</span>`
          : html`<form method="post" action="${PATH}/sessions/end">
              <button name="session" value="${id}">Sign out<span class="hidden-text"> ${name}</span></button>
            </form>`
      }
    </td>
  </tr>`;
}
