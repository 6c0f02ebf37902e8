import fastify from "fastify";
import { mountDashboard } from "../../src/dashboard/dashboard.ts";
import type { DashboardParts } from "../../src/dashboard/parts.ts";
import { silentLog } from "./silent-log.ts";
import type { OwnerHome } from "./owner-home.ts";
import type { ConfigOverrides, TestServer } from "./test-server.ts";

/** A route that the dashboard has registered. A test over all routes thus includes each new route by itself. */
export interface DashboardRoute {
  readonly method: "GET" | "POST";
  /** The path with its parameters, like `/dashboard/submissions/:id`. */
  readonly path: string;
  /** Whether the route answers without a session. */
  readonly isOpen: boolean;
}

/** Lists every route of the dashboard, except the one for unknown addresses. */
export async function dashboardRoutes({
  owner: db,
  config,
  clock,
}: TestServer): Promise<readonly DashboardRoute[]> {
  const routes: DashboardRoute[] = [];
  const server = fastify();
  server.addHook("onRoute", ({ method, url, config }) => {
    // Of the paths "" and "/" of a scope, the second is a duplicate that no page links to.
    if ((method === "GET" || method === "POST") && !/\/\*?$/.test(url))
      routes.push({ method: method as DashboardRoute["method"], path: url, isOpen: config?.isOpen === true });
  });
  // Parts that only requests need are left out.
  const parts: Partial<DashboardParts> = { db, config, clock, log: silentLog };
  mountDashboard(server, parts as DashboardParts);
  await server.ready();
  await server.close();
  return routes;
}

/** The value of a parameter, by the part of the path before it. */
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

/** The ids of messages that do not belong to a webhook, by the beginning of the path. */
const DELIVERIES: Readonly<Record<string, (home: OwnerHome) => string>> = {
  "/dashboard/recipients/": ({ mailDeliveryId }) => mailDeliveryId,
  "/dashboard/replies/": ({ replyDeliveryId }) => replyDeliveryId,
};

/** The query of pages that are reached only by a link in a letter. */
const QUERIES: Readonly<Record<string, (home: OwnerHome) => string>> = {
  "/dashboard/sign-up/confirm": ({ signUpToken }) => `?token=${signUpToken}`,
  "/dashboard/login": ({ loginCode }) => `?code=${loginCode}`,
  "/dashboard/lost-password/new": ({ resetToken }) => `?token=${resetToken}`,
};

/** Settings with which every page exists. No letter leaves the machine. */
export const EVERY_PAGE: ConfigOverrides = {
  server: { port: 0, baseUrl: "https://forms.example.com" },
  mail: { host: "127.0.0.1", port: 9, from: "forms@example.com" },
  dashboard: { signUp: "open" },
};

/** Returns the address of a route, with the ids of somebody's rows. @throws if there is no value for a parameter */
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

/** Matches addresses that do not answer with a page, or that redirect. */
const NO_PAGE = /\/(?:sign-in\/oidc|assets\/|events$|export|files\/)|\.(?:csv|xlsx|zip|json|jsonl|txt|svg)$/;

/** Lists the addresses of all pages that can be read. */
export function pagesOf(routes: readonly DashboardRoute[], home: OwnerHome): string[] {
  return routes
    .filter(({ method, path }) => method === "GET" && !NO_PAGE.test(path))
    .map((route) => addressOf(route, home));
}
