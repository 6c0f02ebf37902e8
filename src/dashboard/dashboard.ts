import type { FastifyInstance } from "fastify";
import { endpointDeletePages } from "./forms/endpoint-delete-page.ts";
import { endpointFieldsPages } from "./forms/endpoint-fields-page.ts";
import { endpointKeysPages } from "./forms/endpoint-keys-page.ts";
import { refusedOriginPages } from "./forms/refused-origins-page.ts";
import { endpointSettingsPages } from "./forms/endpoint-settings-page.ts";
import { endpointChallengePages } from "./forms/endpoint-challenge-page.ts";
import { endpointImportPages } from "./forms/endpoint-import-page.ts";
import { endpointOwnPages } from "./forms/endpoint-own-page.ts";
import { endpointReplyPages } from "./notifications/endpoint-reply-page.ts";
import { endpointTryPages } from "./forms/endpoint-try-page.ts";
import { endpointListPages } from "./forms/endpoint-list-page.ts";
import { endpointMovePages } from "./forms/endpoint-move-page.ts";
import { endpointNewPages } from "./forms/endpoint-new-page.ts";
import { bulkPages } from "./inbox/bulk-page.ts";
import { exportPages } from "./inbox/export-page.ts";
import { helpPages } from "./assets/help-page.ts";
import { heldPages } from "./inbox/held-page.ts";
import { inboxPages } from "./inbox/inbox-page.ts";
import { loginPages } from "./sign-in/login-page.ts";
import { tokenPages } from "./sign-in/tokens-page.ts";
import { entryPages } from "./sign-in/entry-pages.ts";
import { livePages } from "./live-page.ts";
import { LiveStreams } from "./live.ts";
import type { DashboardParts } from "./parts.ts";
import type { Routes } from "./routes.ts";
import { deliveryPages } from "./notifications/delivery-page.ts";
import { openScope } from "./scope.ts";
import { spamPages } from "./spam/spam-page.ts";
import { usagePages } from "./system/usage-page.ts";
import { submissionPages } from "./inbox/submission-page.ts";
import { systemPages } from "./system/system-page.ts";
import { webhookChangePages } from "./notifications/webhook-change-page.ts";
import { webhookPages } from "./notifications/webhook-page.ts";
import { notificationsPages } from "./notifications/notifications-page.ts";
import { recipientChangePages } from "./notifications/recipient-change-page.ts";
import { recipientPages } from "./notifications/recipient-page.ts";
import { webhookNewPages } from "./notifications/webhook-new-page.ts";
import { accountAdminPages } from "./system/account-admin-page.ts";
import { accountListPages } from "./system/accounts-page.ts";
import { changesPages } from "./system/changes-page.ts";
import { invitationsPages } from "./members/invitations-page.ts";
import { invitePages } from "./members/invite-page.ts";
import { memberPages } from "./members/member-page.ts";
import { membersPages } from "./members/members-page.ts";
import { workspacePages } from "./system/workspace-page.ts";
import { workspaceListPages } from "./system/workspaces-page.ts";

/*
 * The dashboard: pages for the people who own forms. The server renders them, and they work without script. A page reads its request, calls
 * the same operation of a feature as the command with that name, and shows the result.
 *
 * Each `…-page.ts` exports a function that adds its routes:
 *
 *     export function usagePages(routes: Routes, parts: DashboardParts): void {
 *       routes.read("/usage", async ({ viewer }) => page("Usage", html`…`));
 *       routes.write("/usage/…", async (visit) => {
 *         await visit.perform(someOperation, { … });
 *         return redirect("/dashboard/usage", "saved");
 *       });
 *     }
 *
 * Three rules hold everywhere. A row is reached only through the viewer (`getViewable…`), so that the id of somebody else's row is like one
 * that does not exist. A write is an operation, so that it is recorded and the running server applies it. Markup is made by the tag `html`,
 * which escapes every value.
 */

const PAGES: readonly ((routes: Routes, parts: DashboardParts) => void)[] = [
  entryPages,
  tokenPages,
  loginPages,
  endpointListPages,
  usagePages,
  spamPages,
  endpointNewPages,
  notificationsPages,
  recipientPages,
  recipientChangePages,
  webhookNewPages,
  webhookPages,
  webhookChangePages,
  deliveryPages,
  systemPages,
  accountListPages,
  accountAdminPages,
  workspaceListPages,
  workspacePages,
  membersPages,
  memberPages,
  invitePages,
  invitationsPages,
  changesPages,
  inboxPages,
  bulkPages,
  exportPages,
  endpointTryPages,
  endpointReplyPages,
  endpointOwnPages,
  endpointImportPages,
  endpointChallengePages,
  endpointSettingsPages,
  refusedOriginPages,
  endpointKeysPages,
  endpointFieldsPages,
  endpointDeletePages,
  endpointMovePages,
  submissionPages,
  heldPages,
  helpPages,
];

/** Adds the pages under `/dashboard` to a server that already bounds connections and sizes. */
export function mountDashboard(server: FastifyInstance, parts: DashboardParts): void {
  const live = new LiveStreams(parts);
  const addScope = (scope: FastifyInstance, _options: unknown, done: () => void): void => {
    const routes = openScope(scope, parts);
    for (const pages of PAGES) pages(routes, parts);
    livePages(routes, live);
    done();
  };
  // This must run before the hooks that wait for answers to end.
  server.addHook("preClose", async () => live.close());
  server.register(addScope, { prefix: "/dashboard" });
}
