import fastify from "fastify";
import { mountDashboard } from "../../src/dashboard/dashboard.ts";
import type { DashboardParts } from "../../src/dashboard/parts.ts";
import { silentLog } from "./silent-log.ts";
import type { OwnerHome } from "./owner-home.ts";
import type { ConfigOverrides, TestServer } from "./test-server.ts";

/** A route as the dashboard has registered it, so that a test over all of them meets each new one by itself. */
export interface DashboardRoute {
  readonly method: "GET" | "POST";
  /** With its parameters: `/dashboard/submissions/:id`. */
  readonly path: string;
  /** Whether it answers without a session. */
  readonly isOpen: boolean;
}

/** Every route of the dashboard but the one for unknown addresses. */
export async function dashboardRoutes({
  owner: db,
  config,
  clock,
}: TestServer): Promise<readonly DashboardRoute[]> {
  const routes: DashboardRoute[] = [];
  const server = fastify();
  server.addHook("onRoute", ({ method, url, config }) => {
    // Of the paths "" and "/" of a scope, one is a double that nobody links to.
    if ((method === "GET" || method === "POST") && !/\/\*?$/.test(url))
      routes.push({ method: method as DashboardRoute["method"], path: url, isOpen: config?.isOpen === true });
  });
  // What only requests need is left out.
  const parts: Partial<DashboardParts> = { db, config, clock, log: silentLog };
  mountDashboard(server, parts as DashboardParts);
  await server.ready();
  await server.close();
  return routes;
}

/** What stands for a parameter, by the part of the path before it. */
const PARAMETERS: Readonly<Record<string, (home: OwnerHome) => string>> = {
  submissions: ({ submissionIds: [first = ""] }) => first,
  files: ({ fileId }) => fileId,
  held: ({ heldId }) => heldId,
  endpoints: ({ endpointId }) => endpointId,
  keys: ({ keyId }) => keyId,
  recipients: ({ mailRecipientId }) => mailRecipientId,
  replies: ({ autoReplyId }) => autoReplyId,
  webhooks: ({ webhookId }) => webhookId,
  deliveries: ({ deliveryId }) => deliveryId,
  sessions: ({ sessionId }) => sessionId,
  passkeys: ({ passkeyId }) => passkeyId,
  tokens: ({ tokenId }) => tokenId,
  workspaces: ({ workspaceId }) => workspaceId,
  accounts: ({ accountId }) => accountId,
  members: ({ accountId }) => accountId,
  invitations: ({ invitationId }) => invitationId,
  help: () => "spam",
};

/** Messages that are not a webhook's, by the beginning of the path. */
const DELIVERIES: Readonly<Record<string, (home: OwnerHome) => string>> = {
  "/dashboard/recipients/": ({ mailDeliveryId }) => mailDeliveryId,
  "/dashboard/replies/": ({ replyDeliveryId }) => replyDeliveryId,
};

/** What follows the address of a page that only the link in a letter leads to. */
const QUERIES: Readonly<Record<string, (home: OwnerHome) => string>> = {
  "/dashboard/sign-up/confirm": ({ signUpToken }) => `?token=${signUpToken}`,
  "/dashboard/login": ({ loginCode }) => `?code=${loginCode}`,
  "/dashboard/lost-password/new": ({ resetToken }) => `?token=${resetToken}`,
};

/** Settings with which every page is there. No letter leaves the machine. */
export const EVERY_PAGE: ConfigOverrides = {
  server: { port: 0, baseUrl: "https://forms.example.com" },
  mail: { host: "127.0.0.1", port: 9, from: "forms@example.com" },
  dashboard: { signUp: "open" },
};

/** The address of a route for somebody's rows. @throws if a parameter stands behind a part that has no rows here. */
export function addressOf({ path }: DashboardRoute, home: OwnerHome): string {
  const query = QUERIES[path]?.(home) ?? "";
  const address = path.replaceAll(/([\w-]+)\/:\w+/g, (_whole, before: string) => {
    const begin = Object.keys(DELIVERIES).find((each) => path.startsWith(each)) ?? "";
    const value = (before === "deliveries" && DELIVERIES[begin]) || PARAMETERS[before];
    if (value === undefined) throw new Error(`${path}: say in PARAMETERS what ${before}/: stands for`);
    return `${before}/${value(home)}`;
  });
  return `${address}${query}`;
}

/** Addresses that answer something other than a page, or lead elsewhere. */
const NO_PAGE = /\/(?:sign-in\/oidc|assets\/|events$|export|files\/)|\.(?:csv|xlsx|zip|json|jsonl|txt|svg)$/;

/** The addresses of every page that can be read. */
export function pagesOf(routes: readonly DashboardRoute[], home: OwnerHome): string[] {
  return routes
    .filter(({ method, path }) => method === "GET" && !NO_PAGE.test(path))
    .map((route) => addressOf(route, home));
}
