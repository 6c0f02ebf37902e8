import { html, type Html } from "../../foundation/html.ts";
import { askForPasskey, type PasskeyParts } from "../../sessions/passkeys.ts";
import type { SignIns } from "../../sessions/sign-in.ts";
import type { SecondProof } from "../../sessions/use-link.ts";
import type { OpenVisit, Routes } from "../routes.ts";
import { type Entrance, safeNext } from "./entrance.ts";
import { passkeyButton } from "./passkey-button.ts";
import { orAgain, problemView } from "./retry.ts";
import { setFlowCookie, takeFlowCookie } from "./session-cookie.ts";

const PATH = "/dashboard/sign-in/passkey";
const TITLE = "Sign in";

/** Signing in with only a passkey, and the question for the device, which the page's script fetches. */
export function passkeySignInPages(
  routes: Routes,
  parts: PasskeyParts,
  entrance: Entrance,
  signIns: SignIns,
): void {
  const { requireWay, clientOf, enter } = entrance;

  // This changes only the browser's own cookie.
  routes.openWrite("/sign-in/passkey/ask", async ({ request, reply, form, now }) => {
    const way = requireWay(request);
    const use = form.get("use") === "alone" ? "alone" : "second factor";
    const { cookie, options } = await askForPasskey(parts, use, now);
    setFlowCookie(reply, way, cookie);
    return { kind: "for script", content: options };
  });

  routes.openWrite("/sign-in/passkey", (visit) => {
    const { request, reply, form } = visit;
    const again = (problem: string): Html => refusedView(safeNext(form.get("next")), problem);
    return orAgain(TITLE, reply, again, async () => {
      const answer = { cookie: cookieOf(visit, entrance), response: form.get("passkey") ?? "" };
      requireWay(request);
      return enter(visit, await signIns.signInByPasskey(answer, clientOf(request)));
    });
  });
}

/** The second factor in a form: the answer of a passkey, or else a code. */
export function secondProofOf(visit: OpenVisit, entrance: Entrance, codeName: string): SecondProof {
  const { form } = visit;
  const response = form.get("passkey") ?? "";
  return response === "" ? (form.get(codeName) ?? "") : { cookie: cookieOf(visit, entrance), response };
}

/** The passkey button of the sign-in page. No name is typed, because the device knows whose passkey it is. */
export function passkeyForm(next: string): Html {
  return html`<form class="needs-script" method="post" action="${PATH}">
    <input type="hidden" name="next" value="${next}" />
    ${passkeyButton("alone", "Sign in with a passkey")}
  </form>`;
}

function refusedView(next: string, problem: string): Html {
  return html`<h1>${TITLE}</h1>
    ${problemView(problem)} ${passkeyForm(next)}
    <p><a href="/dashboard/sign-in?next=${encodeURIComponent(next)}">Sign in another way</a></p>`;
}

function cookieOf({ request, reply }: OpenVisit, { requireWay }: Entrance): string | null {
  return takeFlowCookie(request, reply, requireWay(request));
}
