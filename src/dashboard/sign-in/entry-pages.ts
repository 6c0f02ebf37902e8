import { setTimeout } from "node:timers/promises";
import { createAttemptLimits, type Sleep } from "../../sessions/attempt-limits.ts";
import { createPasswordProver } from "../../sessions/prove-password.ts";
import { createOwnerNotifier } from "../../sessions/notify-owner.ts";
import { createSignIns } from "../../sessions/sign-in.ts";
import { accountPages } from "./account-page.ts";
import { createEntrance } from "./entrance.ts";
import { invitationPages } from "./invitation-page.ts";
import { mailedEntryPages } from "./mailed-entry-pages.ts";
import { openIssuer } from "./oidc-pages.ts";
import type { DashboardParts } from "../parts.ts";
import { passkeySignInPages } from "./passkey-sign-in-pages.ts";
import { passkeyPages } from "./passkeys-page.ts";
import { passkeySupport } from "./relying-party.ts";
import type { Routes } from "../routes.ts";
import { secondFactorPages } from "./second-factor-page.ts";
import { signInPages } from "./sign-in-page.ts";
import { trustedUsers } from "../trusted-user.ts";

const sleep: Sleep = (ms, signal) => setTimeout(ms, undefined, { signal });

/** The pages on which people prove who they are. They share the limits of attempts. */
export function entryPages(routes: Routes, parts: DashboardParts): void {
  const limits = createAttemptLimits(parts.signInSleep ?? sleep);
  const prover = createPasswordProver(parts.db, limits);
  const { dashboard, newWorkspacePlan } = parts.config;
  const { logAddresses, passwords } = dashboard;
  const ownerNotifier = createOwnerNotifier(parts.storedLetters, parts.dashboardUrl);
  const { party } = passkeySupport(parts.config);
  const security = { ...parts, prover, ownerNotifier, passwords, party };
  const signIns = createSignIns({ ...security, limits, logAddresses, newWorkspacePlan });
  const entrance = createEntrance(parts);
  const issuer = openIssuer(parts);
  const named = trustedUsers(parts.config);
  signInPages(routes, parts, entrance, { signIns, issuer, named });
  passkeySignInPages(routes, security, entrance, signIns);
  passkeyPages(routes, security, entrance);
  mailedEntryPages(routes, parts, entrance, signIns);
  invitationPages(routes, entrance, { signIns, passwords, hasIssuer: issuer !== null, named });
  accountPages(routes, security);
  secondFactorPages(routes, security);
}
