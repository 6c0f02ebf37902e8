import { oidcReturnAddresses } from "../../config/dashboard-address.ts";
import { FormsvcError } from "../../foundation/errors.ts";
import { issuerFailed } from "../../foundation/sign-in-events.ts";
import { html, type Html } from "../../foundation/html.ts";
import { beginFlow, readFlow } from "../../sessions/browser-flow.ts";
import { flowKey, readKey } from "../../sessions/known-clients.ts";
import { createIssuer, type Issuer } from "../../sessions/oidc-issuer.ts";
import { readOidcSettings } from "../../sessions/oidc-settings.ts";
import type { Admission } from "../../sessions/oidc-sign-in.ts";
import type { SignInAnswer, SignIns } from "../../sessions/sign-in.ts";
import { page, redirect } from "../answer.ts";
import type { DashboardParts } from "../parts.ts";
import type { Routes } from "../routes.ts";
import { type Entrance, safeNext } from "./entrance.ts";
import { orAgain } from "./retry.ts";
import { setFlowCookie, takeFlowCookie } from "./session-cookie.ts";

/** The path below `/dashboard`. */
const OIDC_PATH = "/sign-in/oidc";
const PURPOSE = "oidc";
const LOST =
  "This sign-in was begun in another browser or tab, was finished already, or took longer than ten minutes. Begin again.";

/** The configured issuer; null if people sign in only here. */
export function openIssuer({ config, log }: DashboardParts): Issuer | null {
  const settings = readOidcSettings(config.oidc);
  const { baseUrl } = config.server;
  if (settings === null || baseUrl === null) return null;
  const { issuer } = settings;
  return createIssuer(settings, oidcReturnAddresses(baseUrl), (step, reason) =>
    issuerFailed(log, { issuer, step, reason }),
  );
}

type NeedsCode = Extract<SignInAnswer, { readonly kind: "needs code" }>;

/** What the pages show when a sign-in goes on or fails. */
export interface OidcViews {
  readonly title: string;
  readonly signIn: (next: string, problem: string) => Html;
  readonly codeTitle: string;
  readonly code: (answer: NeedsCode, next: string) => Html;
}

/**
 * Signing in through an issuer. Both steps are links, because browsers do not let a form of ours lead to another site. The first link
 * changes nothing here. The second changes only what this browser has begun, which its cookie proves.
 */
export function oidcPages(
  routes: Routes,
  { db, keyring, config, clock }: DashboardParts,
  { requireWay, clientOf, enter }: Entrance,
  {
    issuer,
    signIns,
    views,
  }: { readonly issuer: Issuer | null; readonly signIns: SignIns; readonly views: OidcViews },
): void {
  const present = (): Issuer => {
    if (issuer === null) throw new FormsvcError("not_found", "There is no such page.");
    return issuer;
  };
  // The purpose includes the client, because another client of the same issuer is another purpose.
  const purpose = JSON.stringify([PURPOSE, config.oidc.issuer, config.oidc.clientId]);

  routes.openRead(OIDC_PATH, ({ request, reply, query }) => {
    const at = present();
    const way = requireWay(request);
    const next = safeNext(query.get("next"));
    const again = (problem: string): Html => views.signIn(next, problem);
    return orAgain(views.title, reply, again, async () => {
      const flow = beginFlow(await flowKey(db, keyring), purpose, next, clock.now());
      const address = await at.begin(flow);
      setFlowCookie(reply, way, flow.cookie);
      return redirect(address);
    });
  });

  routes.openRead(`${OIDC_PATH}/callback`, (visit) => {
    const { request, reply, query } = visit;
    const at = present();
    const cookie = takeFlowCookie(request, reply, requireWay(request));
    let next = "/dashboard";
    const again = (problem: string): Html => views.signIn(next, problem);
    return orAgain(views.title, reply, again, async () => {
      const key = await db.read(() => readKey(keyring));
      const flow = key === undefined ? null : readFlow(key, purpose, cookie, clock.now());
      // Somebody who begins in two tabs comes back from the first one with the cookie of the second.
      if (flow === null || query.get("state") !== flow.secretOf("state"))
        throw new FormsvcError("unauthorized", LOST);
      next = safeNext(flow.next);
      const ask = () => at.finish(flow, query, request.clientAddress);
      const answer = await signIns.signInByIssuer(admissionOf(at, config), ask, clientOf(request));
      if (answer.kind === "signed in") return enter(visit, answer.session, next);
      return page(views.codeTitle, views.code(answer, next));
    });
  });
}

function admissionOf({ settings }: Issuer, { newWorkspacePlan }: DashboardParts["config"]): Admission {
  return { settings, newWorkspacePlan };
}

/** The button on the sign-in page that leads to the issuer. */
export function issuerButton({ settings }: Issuer, next: string): Html {
  const address = `/dashboard${OIDC_PATH}?next=${encodeURIComponent(next)}`;
  return html`<p><a class="button primary" href="${address}">Sign in with ${settings.label}</a></p>`;
}

/** The page after somebody signed out here. It continues to the issuer by itself, without a script. */
export function signedOutView({ settings }: Issuer, address: string): Html {
  return html`<h1>You are signed out</h1>
    <section class="card"><p>
      You go on to ${settings.label}, to sign out there too.
      <a href="${address}">Go on now</a> or <a href="/dashboard/sign-in">stay here</a>.
    </p></section>`;
}
