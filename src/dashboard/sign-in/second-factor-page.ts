import { html, type Html } from "../../foundation/html.ts";
import { findCredential } from "../../sessions/credential-store.ts";
import type { Viewer } from "../../sessions/session.ts";
import { newTotpSecret, otpauthUri, readTotpSecret, toBase32 } from "../../sessions/totp.ts";
import { removeOwnTotp, renewOwnCodes, setOwnTotp } from "../../sessions/security-operations.ts";
import { type EntryParts, ownPerform, presentPassword, proofField, typedPassword } from "./account-page.ts";
import { type Answer, page, redirect } from "../answer.ts";
import { textField } from "../kit/field.ts";
import { createOnce, onceInput } from "../kit/once.ts";
import { ownAddress } from "../own-address.ts";
import { accountCrumbs, recoveryCodesView } from "./recovery-codes-view.ts";
import { qrCode } from "./qr-code.ts";
import { orAgain, problemView } from "./retry.ts";
import type { Routes, Visit } from "../routes.ts";

const ACCOUNT = "/dashboard/account";
const PATH = `${ACCOUNT}/second-factor`;
const TITLE = "Second factor";

/** Sets up the second factor, shows its recovery codes, and switches it off. */
export function secondFactorPages(routes: Routes, parts: EntryParts): void {
  const once = createOnce((answer) => answer.kind === "page" && answer.status === 201);
  const shownAlready = (): Answer => redirect(ACCOUNT, "codes-shown-already");
  const hasApp = async ({ accountId }: Viewer): Promise<boolean> => {
    const credential = await parts.db.read(() => findCredential(accountId));
    return credential !== undefined && credential.totpSecret !== null;
  };
  const ownView = async ({ viewer }: Visit, problem?: string): Promise<Html> =>
    factorView(await proofField(parts, viewer), await hasApp(viewer), problem);

  routes.read("/account/second-factor", async (visit) => {
    if (await hasApp(visit.viewer)) return page(TITLE, await ownView(visit));
    return page(TITLE, setUpView(visit, parts, newTotpSecret()));
  });
  // This page is for an account that has only passkeys, and so no app to switch off.
  routes.read("/account/second-factor/codes", async (visit) => page(TITLE, await ownView(visit)));

  routes.write("/account/second-factor", async (visit) => {
    const { form, reply } = visit;
    // The app has this secret already, so a wrong code must not change it.
    const secret = readTotpSecret(form.get("secret") ?? "") ?? newTotpSecret();
    const again = (problem: string): Html => setUpView(visit, parts, secret, problem);
    const confirm = (): Promise<Answer> =>
      orAgain(TITLE, reply, again, async () => {
        const typed = { password: typedPassword(form), code: form.get("code") ?? "" };
        const made = await ownPerform(parts, visit)(setOwnTotp, { ...typed, secret: toBase32(secret) });
        return page(TITLE, recoveryCodesView(made.recovery_codes, "The second factor is on"), 201);
      });
    return once.run(visit, confirm, shownAlready);
  });

  routes.write("/account/second-factor/codes", async (visit) => {
    const renew = (): Promise<Answer> =>
      orAgain(
        TITLE,
        visit.reply,
        (problem) => ownView(visit, problem),
        async () => {
          const password = typedPassword(visit.form);
          const made = await ownPerform(parts, visit)(renewOwnCodes, { password });
          return page(TITLE, recoveryCodesView(made.recovery_codes, "New recovery codes"), 201);
        },
      );
    return once.run(visit, renew, shownAlready);
  });

  routes.write("/account/second-factor/remove", async (visit) =>
    orAgain(
      TITLE,
      visit.reply,
      (problem) => ownView(visit, problem),
      async () => {
        await ownPerform(parts, visit)(removeOwnTotp, { password: typedPassword(visit.form) });
        return redirect(ACCOUNT, "factor-removed");
      },
    ),
  );
}

function setUpView(
  { viewer, request, form }: Visit,
  parts: EntryParts,
  secret: Buffer,
  problem?: string,
): Html {
  const text = toBase32(secret);
  const uri = otpauthUri(secret, viewer.email, issuerOf(ownAddress(request, parts.config)));
  return html`${accountCrumbs}
    <div class="head"><h1>Set up a second factor</h1></div>
    ${problemView(problem)}
    <section class="card"><form class="stacked" method="post" action="${PATH}">
      ${onceInput(form)}<input type="hidden" name="secret" value="${text}" />
      <p>
        <b>1.</b> Scan this with an authenticator app, like the one of your password manager, or type the key into it.
      </p>
      ${qrCode(uri, "QR code for the authenticator app; the key below it says the same")}
      <p class="secret">
        <code>${text.match(/.{4}/g)?.join(" ")}</code>
        <button type="button" data-copy>Copy</button>
      </p>
      <p><b>2.</b> Enter the code that the app shows, and your password.</p>
      ${textField({ name: "code", label: "Code", value: "", autocomplete: "one-time-code", hint: "Six digits.", isRequired: true })}
      ${presentPassword(viewer, parts.passwords)}
      <p class="row">
        <button class="primary">Switch it on</button>
        <a href="${ACCOUNT}">Cancel</a>
      </p>
    </form></section>`;
}

/** The issuer's name in an app's list, without a colon, which would divide it from the account. */
function issuerOf(address: string): string {
  const { hostname } = new URL(address);
  return hostname.includes(":") ? "formsvc" : `formsvc ${hostname}`;
}

/** @param hasApp whether there is an app to switch off; recovery codes can replace passkeys too */
function factorView(proof: Html, hasApp: boolean, problem?: string): Html {
  return html`${accountCrumbs}
    <div class="head"><h1>Second factor</h1></div>
    ${problemView(problem)}
    <section class="card" aria-labelledby="change">
      <header><h2 id="change">${hasApp ? "Recovery codes, or switching it off" : "Recovery codes"}</h2></header>
      <form class="stacked" method="post" action="${PATH}/codes">
        ${onceInput()}${proof}
        <p class="hint">
          New recovery codes replace the earlier ones. ${hasApp && "To move to another phone, switch the second factor off and set it up again."}
        </p>
        <p class="row">
          <button class="primary">Make new recovery codes</button>
          ${hasApp && html`<button class="danger" formaction="${PATH}/remove">Switch the second factor off</button>`}
        </p>
      </form>
    </section>`;
}
