import type { FastifyInstance } from "fastify";
import { endpointDeletePages } from "./endpoint-delete-page.ts";
import { endpointFieldsPages } from "./endpoint-fields-page.ts";
import { endpointKeysPages } from "./endpoint-keys-page.ts";
import { refusedOriginPages } from "./refused-origins-page.ts";
import { endpointSettingsPages } from "./endpoint-settings-page.ts";
import { endpointReplyPages } from "./endpoint-reply-page.ts";
import { endpointTryPages } from "./endpoint-try-page.ts";
import { endpointListPages } from "./endpoint-list-page.ts";
import { endpointNewPages } from "./endpoint-new-page.ts";
import { bulkPages } from "./bulk-page.ts";
import { exportPages } from "./export-page.ts";
import { helpPages } from "./help-page.ts";
import { heldPages } from "./held-page.ts";
import { inboxPages } from "./inbox-page.ts";
import { entryPages } from "./entry-pages.ts";
import { livePages } from "./live-page.ts";
import { LiveStreams } from "./live.ts";
import type { DashboardParts } from "./parts.ts";
import type { Routes } from "./routes.ts";
import { deliveryPages } from "./delivery-page.ts";
import { openScope } from "./scope.ts";
import { spamPages } from "./spam-page.ts";
import { usagePages } from "./usage-page.ts";
import { submissionPages } from "./submission-page.ts";
import { systemPages } from "./system-page.ts";
import { webhookChangePages } from "./webhook-change-page.ts";
import { webhookPages } from "./webhook-page.ts";
import { notificationsPages } from "./notifications-page.ts";
import { recipientChangePages } from "./recipient-change-page.ts";
import { recipientPages } from "./recipient-page.ts";
import { webhookNewPages } from "./webhook-new-page.ts";
import { accountAdminPages } from "./account-admin-page.ts";
import { accountListPages } from "./accounts-page.ts";
import { changesPages } from "./changes-page.ts";
import { workspacePages } from "./workspaces-page.ts";

/*
 * The dashboard: pages for the people who own forms. They are made here, on the server, and work without script. A page reads its
 * request, calls the same verb of a feature as the command of that name, and shows what came of it.
 *
 * Each `…-page.ts` exports a function that adds its routes:
 *
 *     export function usagePages(routes: Routes, parts: DashboardParts): void {
 *       routes.read("/usage", async ({ viewer }) => page("Usage", html`…`));
 *       routes.write("/usage/…", async ({ viewer, form }) => {
 *         await change(parts, () => someVerb(…));
 *         return redirect("/dashboard/usage", "saved");
 *       });
 *     }
 *
 * Three rules hold everywhere. A row is reached only through the viewer (`getViewable…`), so that another's id is like one that
 * does not exist. A write goes through `change` or `applied`, so that the running server takes it up. Markup is made by the tag
 * `html`, which escapes every value.
 */

const PAGES: readonly ((routes: Routes, parts: DashboardParts) => void)[] = [
  entryPages,
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
  workspacePages,
  changesPages,
  inboxPages,
  bulkPages,
  exportPages,
  endpointTryPages,
  endpointReplyPages,
  endpointSettingsPages,
  refusedOriginPages,
  endpointKeysPages,
  endpointFieldsPages,
  endpointDeletePages,
  submissionPages,
  heldPages,
  helpPages,
];

/** Adds the pages under `/dashboard` to a server that bounds connections and sizes already. */
export function mountDashboard(server: FastifyInstance, parts: DashboardParts): void {
  const live = new LiveStreams(parts);
  const addScope = (scope: FastifyInstance, _options: unknown, done: () => void): void => {
    const routes = openScope(scope, parts);
    for (const pages of PAGES) pages(routes, parts);
    livePages(routes, live);
    done();
  };
  // Before all that waits for answers to end.
  server.addHook("preClose", async () => live.close());
  server.register(addScope, { prefix: "/dashboard" });
}
