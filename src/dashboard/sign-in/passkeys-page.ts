import { FormsvcError } from "../../foundation/errors.ts";
import { html, type Html } from "../../foundation/html.ts";
import { addPasskey, beginPasskey, removePasskey, renamePasskey } from "../../sessions/passkey-operations.ts";
import { listPasskeys, type Passkey } from "../../sessions/passkey-store.ts";
import { type Answer, page, redirect } from "../answer.ts";
import { browserOf } from "../inbox/sender-facts.ts";
import { textField } from "../kit/field.ts";
import { createOnce, onceInput } from "../kit/once.ts";
import type { Routes, Visit } from "../routes.ts";
import { type EntryParts, ownPerform, proofField, typedPassword } from "./account-page.ts";
import type { Entrance } from "./entrance.ts";
import { accountCrumbs, recoveryCodesView } from "./recovery-codes-view.ts";
import { passkeySupport } from "./relying-party.ts";
import { orAgain, problemView } from "./retry.ts";
import { setFlowCookie, takeFlowCookie } from "./session-cookie.ts";

const ACCOUNT = "/dashboard/account";
const PATH = `${ACCOUNT}/passkeys`;
const NEW_TITLE = "Add a passkey";
const TITLE = "Passkey";
/** A longer text is no name that somebody would choose. */
const MAX_BROWSER_LENGTH = 40;

/** Adds a passkey in two steps, first proof of who the person is, then the device. Also renames and removes passkeys. */
export function passkeyPages(routes: Routes, parts: EntryParts, { requireWay }: Entrance): void {
  const once = createOnce((answer) => answer.kind === "page" && answer.status === 201);
  const { why } = passkeySupport(parts.config);
  const beginView = async (visit: Visit, problem?: string): Promise<Html> =>
    newView(await proofField(parts, visit.viewer), nameOf(visit), why, problem);

  routes.read("/account/passkeys/new", async (visit) => page(NEW_TITLE, await beginView(visit)));

  routes.write("/account/passkeys/new", (visit) => {
    const { request, reply, form } = visit;
    return orAgain(
      NEW_TITLE,
      reply,
      (problem) => beginView(visit, problem),
      async () => {
        const input = { password: typedPassword(form) };
        const { cookie, options } = await ownPerform(parts, visit)(beginPasskey, input);
        setFlowCookie(reply, requireWay(request), cookie);
        return page(NEW_TITLE, deviceView(visit, JSON.stringify(options)));
      },
    );
  });

  routes.write("/account/passkeys", (visit) => {
    const { request, reply, form } = visit;
    const add = (): Promise<Answer> =>
      orAgain(
        NEW_TITLE,
        reply,
        (problem) => beginView(visit, problem),
        async () => {
          const cookie = takeFlowCookie(request, reply, requireWay(request));
          const input = { name: nameOf(visit), cookie, response: form.get("passkey") ?? "" };
          const { recovery_codes: codes } = await ownPerform(parts, visit)(addPasskey, input);
          if (codes.length === 0) return redirect(ACCOUNT, "passkey-added");
          return page(NEW_TITLE, recoveryCodesView(codes, "The passkey is added"), 201);
        },
      );
    return once.run(visit, add, () => redirect(ACCOUNT, "codes-shown-already"));
  });

  onePasskeyPages(routes, parts);
}

function onePasskeyPages(routes: Routes, parts: EntryParts): void {
  const view = async ({ viewer, params }: Visit, problem?: string): Promise<Html> => {
    const own = await parts.db.read(() => listPasskeys(viewer.accountId));
    const passkey = own.find(({ id }) => id === params["id"]);
    if (passkey === undefined) throw new FormsvcError("not_found", "You have no such passkey.");
    return oneView(passkey, await proofField(parts, viewer), problem);
  };

  routes.read("/account/passkeys/:id", async (visit) => page(TITLE, await view(visit)));

  /** Changes a passkey. If that is refused, its page shows the reason. */
  const change = (visit: Visit, notice: string, work: (passkey: string) => Promise<unknown>) =>
    orAgain(
      TITLE,
      visit.reply,
      (problem) => view(visit, problem),
      async () => {
        await work(visit.params["id"] ?? "");
        return redirect(ACCOUNT, notice);
      },
    );

  routes.write("/account/passkeys/:id", (visit) =>
    change(visit, "saved", (passkey) =>
      ownPerform(parts, visit)(renamePasskey, { passkey, name: visit.form.get("name") ?? "" }),
    ),
  );

  routes.write("/account/passkeys/:id/remove", (visit) =>
    change(visit, "passkey-removed", (passkey) =>
      ownPerform(parts, visit)(removePasskey, { passkey, password: typedPassword(visit.form) }),
    ),
  );
}

/** The typed name, or the name of the browser. */
function nameOf({ form, request }: Visit): string {
  const browser = browserOf(request.headers["user-agent"] ?? "");
  return form.get("name") ?? (browser !== null && browser.length <= MAX_BROWSER_LENGTH ? browser : "Passkey");
}

function newView(proof: Html, name: string, why: string | null, problem?: string): Html {
  return html`${accountCrumbs}
    <div class="head"><h1>${NEW_TITLE}</h1></div>
    ${problemView(problem)}
    <section class="card">${
      why === null
        ? html`<form class="stacked" method="post" action="${PATH}/new">
      <p>
        <b>1.</b> Say who you are. Your device asks you for a finger, a face or a PIN after that, and makes the passkey.
      </p>
      ${nameField(name)}
      ${proof}
      <p class="hint">
        With a passkey, a password alone signs you in no longer. A device without it takes one of your recovery codes.
      </p>
      <p class="row">
        <button class="primary">Go on</button>
        <a href="${ACCOUNT}">Cancel</a>
      </p>
    </form>`
        : html`<p>${why}</p>`
    }</section>`;
}

function deviceView(visit: Visit, options: string): Html {
  return html`${accountCrumbs}
    <div class="head"><h1>${NEW_TITLE}</h1></div>
    <section class="card"><form class="stacked" method="post" action="${PATH}">
      ${onceInput()}<input type="hidden" name="name" value="${nameOf(visit)}" />
      <p><b>2.</b> Your device makes the passkey now. It stays there, or in the password manager that it belongs to.</p>
      <div class="needs-script" data-new-passkey="${options}">
        <input type="hidden" name="passkey" value="" />
        <button type="button" class="primary">Make the passkey</button>
        <p class="problem" role="alert" hidden></p>
      </div>
      <noscript><p class="problem">This step needs JavaScript, because the device is asked by the page.</p></noscript>
      <p><a href="${ACCOUNT}">Cancel</a></p>
    </form></section>`;
}

function oneView(passkey: Passkey, proof: Html, problem?: string): Html {
  const path = `${PATH}/${passkey.id}`;
  return html`${accountCrumbs}
    <div class="head"><h1><bdi>${passkey.name}</bdi></h1></div>
    ${problemView(problem)}
    <section class="card" aria-labelledby="rename">
      <header><h2 id="rename">Name</h2></header>
      <form class="stacked" method="post" action="${path}">
        ${nameField(passkey.name)}
        <p><button class="primary">Save the name</button></p>
      </form>
    </section>
    <section class="card" aria-labelledby="remove">
      <header><h2 id="remove">Remove it</h2></header>
      <form class="stacked" method="post" action="${path}/remove">
        <p>It signs nobody in from then on, and other browsers are signed out. Delete it on the device too.</p>
        ${proof}
        <p><button class="danger">Remove the passkey</button></p>
      </form>
    </section>`;
}

function nameField(name: string): Html {
  const hint = "What you will know the device by.";
  return textField({ name: "name", label: "Name", value: name, autocomplete: "off", hint, isRequired: true });
}
