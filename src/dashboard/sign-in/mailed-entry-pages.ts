import { FormsvcError } from "../../foundation/errors.ts";
import type { Html } from "../../foundation/html.ts";
import { createMailedRequests, type MailedRequests } from "../../sessions/ask-by-mail.ts";
import type { LinkPurpose } from "../../sessions/mailed-link.ts";
import type { SignIns } from "../../sessions/sign-in.ts";
import { addressOfLink } from "../../sessions/use-link.ts";
import { type Page, page, redirect } from "../answer.ts";
import { deadLinkPage } from "./dead-link-view.ts";
import type { Entrance } from "./entrance.ts";
import { askView, ENTRIES, linkView, sentView } from "./mailed-entry-view.ts";
import type { DashboardParts } from "../parts.ts";
import { secondProofOf } from "./passkey-sign-in-pages.ts";
import { passkeySupport } from "./relying-party.ts";
import { orAgain } from "./retry.ts";
import type { OpenVisit, Routes } from "../routes.ts";

/** What people without a session can do by e-mail. */
export interface MailedEntries {
  readonly signUp: boolean;
  readonly reset: boolean;
}

/** All of these ways end with a password. Letters need a mail server, and an address for their links that no request can choose. */
export function openEntries({ config, letters, dashboardUrl }: DashboardParts): MailedEntries {
  const reset = letters !== null && dashboardUrl !== null && config.dashboard.passwords === "on";
  return { reset, signUp: reset && config.dashboard.signUp === "open" };
}

/**
 * Signing up, and setting a forgotten password. Both ask for an address, send a letter, and act only on the form of the page that its link
 * leads to. Programs that scan e-mails follow links too, so opening the link changes nothing.
 */
export function mailedEntryPages(
  routes: Routes,
  parts: DashboardParts,
  entrance: Entrance,
  signIns: SignIns,
): void {
  const { signUp, reset } = openEntries(parts);
  const requests = createRequests(parts);
  addEntry(routes, parts, entrance, {
    purpose: "sign-up",
    requests: signUp ? requests : null,
    ask: (open, email, address) => open.signUp(email, address),
    use: (given, client) => signIns.confirmSignUp(given, client),
  });
  addEntry(routes, parts, entrance, {
    purpose: "reset",
    requests: reset ? requests : null,
    ask: (open, email, address) => open.resetPassword(email, address),
    use: (given, client) => signIns.resetPassword(given, client),
  });
}

function createRequests({ db, clock, letters, dashboardUrl }: DashboardParts): MailedRequests | null {
  if (letters === null || dashboardUrl === null) return null;
  return createMailedRequests({ db, clock, letters, dashboardUrl, nowMs: () => performance.now() });
}

interface Entry {
  readonly purpose: LinkPurpose;
  /** If null, the pages answer as if they did not exist. */
  readonly requests: MailedRequests | null;
  readonly ask: (requests: MailedRequests, email: string, address: string) => Promise<void>;
  readonly use: SignIns["resetPassword"];
}

function addEntry(
  routes: Routes,
  parts: DashboardParts,
  entrance: Entrance,
  { purpose, requests, ask, use }: Entry,
): void {
  const { requireWay, clientOf, enter } = entrance;
  const { path, linkPath, title, linkTitle } = ENTRIES[purpose];
  const passkeys = purpose === "reset" && passkeySupport(parts.config).party !== null;
  const visited = ({ request }: OpenVisit): MailedRequests => {
    if (requests === null) throw new FormsvcError("not_found", "There is no such page.");
    requireWay(request);
    return requests;
  };
  const deadPage = ({ request }: OpenVisit): Page => deadLinkPage(request, `/dashboard${path}`);

  routes.openRead(path, (visit) => {
    visited(visit);
    return page(title, askView(purpose));
  });
  routes.openWrite(path, (visit) => {
    const open = visited(visit);
    const email = visit.form.get("email") ?? "";
    const again = (problem: string): Html => askView(purpose, email, problem);
    return orAgain(title, visit.reply, again, async () => {
      await ask(open, email, visit.request.clientAddress);
      return redirect(`/dashboard${path}/sent`);
    });
  });
  routes.openRead(`${path}/sent`, (visit) => {
    visited(visit);
    return page(title, sentView(purpose));
  });

  routes.openRead(linkPath, async (visit) => {
    // Letters from before the configuration changed still lead here.
    if (requests === null) return deadLinkPage(visit.request, null);
    visited(visit);
    const token = visit.query.get("token") ?? "";
    const address = await parts.db.read(() => addressOfLink(purpose, token, visit.now));
    if (address === undefined) return deadPage(visit);
    return page(linkTitle, linkView(purpose, { token, address, passkeys }));
  });
  routes.openWrite(linkPath, (visit) => {
    visited(visit);
    const { form, reply, request } = visit;
    const [token, newPassword] = [form.get("token") ?? "", form.get("new_password") ?? ""];
    const again = async (problem: string): Promise<Html | Page> => {
      const address = await parts.db.read(() => addressOfLink(purpose, token, visit.now));
      if (address === undefined) return deadPage(visit);
      return linkView(purpose, { token, address, passkeys, problem });
    };
    return orAgain(linkTitle, reply, again, async () => {
      const given = { token, newPassword, code: secondProofOf(visit, entrance, "code") };
      return enter(visit, await use(given, clientOf(request)));
    });
  });
}
