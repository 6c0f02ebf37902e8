import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { getViewableEndpoint } from "../endpoints/endpoint-store.ts";
import { FormsvcError } from "../foundation/errors.ts";
import { html, type Html } from "../foundation/html.ts";
import { compileNetworks } from "../foundation/ip-address.ts";
import { sendError } from "../http/error-reply.ts";
import { sendFile } from "../http/file-reply.ts";
import { goneSignal } from "../http/connections/gone-signal.ts";
import { mediaType, MULTIPART, URL_ENCODED } from "../http/posts/form-body.ts";
import { notReadyError } from "../http/health-routes.ts";
import { rememberAddress } from "../sessions/known-clients.ts";
import { findNamedViewer, findViewer, isSeenDue, noteSeen, type Viewer } from "../sessions/session.ts";
import type { Answer, Page } from "./answer.ts";
import { assetRoutes, isAsset } from "./assets/assets.ts";
import { errorPage, lostFilePage, lostSessionPage } from "./kit/error-page.ts";
import { readCounts } from "./counts.ts";
import { appPage, plainPage } from "./kit/layout.ts";
import { noticeHtml } from "./kit/notices.ts";
import { isFileHost } from "../config/file-host.ts";
import { ownSiteOf, refuseOtherSites, wayOf } from "./own-site.ts";
import { accessOf, requireOnPage } from "./page-access.ts";
import type { DashboardParts } from "./parts.ts";
import { performers, Stopped } from "./perform.ts";
import {
  createRoutes,
  formOf,
  MAX_FORM_BYTES,
  type OpenHandler,
  type OpenVisit,
  queryOf,
  type Routes,
} from "./routes.ts";
import { readCookie } from "./sign-in/session-cookie.ts";
import { createChangeLogger } from "./log-changes.ts";
import { COST_OF_A_CHANGE, VisitSlots } from "./visit-slots.ts";
import { trustedUsers } from "./trusted-user.ts";
import { createVisitorNames } from "./visitor-name.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** The person who is signed in; null if nobody is, and on other routes. */
    viewer: Viewer | null;
    /** Releases the slot of the request; null if it needs none, or was refused. */
    releaseSlot: (() => void) | null;
    /** Why the viewer may not send the form; null if they may. */
    refusal: FormsvcError | null;
  }
}

/** Pages load only our own style, script, images and addresses. They cannot be framed, and no text becomes script. */
export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  "content-security-policy": [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types formsvc",
  ].join("; "),
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "x-content-type-options": "nosniff",
  "referrer-policy": "same-origin",
  "cache-control": "no-store",
};

/** The statuses for a request timeout and for too many requests. */
const PLAIN_STATUSES: ReadonlySet<number> = new Set([408, 429]);

/** Makes a scope with the dashboard's own parser, headers, error page and guard. Returns the routes that pages are added to. */
export function openScope(scope: FastifyInstance, parts: DashboardParts): Routes {
  scope.decorateRequest("viewer", null);
  scope.decorateRequest("releaseSlot", null);
  scope.decorateRequest("refusal", null);
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser(
    "application/x-www-form-urlencoded",
    { parseAs: "string" },
    (_request, body, done) => done(null, new URLSearchParams(String(body))),
  );
  const isOutsider = outsiders(parts);
  guard(scope, parts, isOutsider);
  const logChanges = createChangeLogger(parts.db, parts.log);
  scope.addHook("onResponse", async (request) => {
    // A request that was refused for lack of a slot has changed nothing, and should cost no read.
    if (!isRead(request) && request.releaseSlot !== null) await logChanges();
  });
  scope.setErrorHandler(async (thrown, request, reply) => {
    if (isOutsider(request)) return sendError({ request, reply, log: parts.log }, thrown, MAX_FORM_BYTES);
    const page = errorPage({ thrown, request, reply, log: parts.log });
    // The page has no navigation, which would read the database again: for a client that asks too much, has left, or meets a database that
    // is away.
    if (PLAIN_STATUSES.has(page.status) || page.status >= 500)
      return sendMarkup(reply.code(page.status), plainPage(page.title, page.content));
    return sendPage(request, reply, page, parts);
  });
  assetRoutes(scope);
  const respond = (...[handler, request, reply]: Parameters<Parameters<typeof createRoutes>[1]>) =>
    visit(handler, request, reply, parts);
  const routes = createRoutes(scope, respond, {
    imports: parts.imports,
    async admit(viewer, { id = "" }) {
      await parts.db.read(() => getViewableEndpoint(viewer, id));
    },
  });
  const noSuchPage = (): never => {
    throw new FormsvcError("not_found", "There is no such page.");
  };
  routes.read("/*", noSuchPage);
  routes.write("/*", noSuchPage);
  return routes;
}

/**
 * Checks a request before anything of its body is read: its network, the site of its page, its slot, its session, and the role of its
 * viewer. A form without a file that the role does not allow is read all the same, because the answer shows what was typed: the role may
 * have changed meanwhile.
 */
function guard(
  scope: FastifyInstance,
  parts: DashboardParts,
  isOutsider: (request: FastifyRequest) => boolean,
): void {
  const site = ownSiteOf(parts.config);
  const visits = new VisitSlots(parts.visitIntervalMs);
  const names = createVisitorNames();
  const namedUser = trustedUsers(parts.config);
  scope.addHook("onRequest", async (request, reply) => {
    if (isOutsider(request)) throw new FormsvcError("not_found", "There is nothing at this address.");
    reply.headers(PAGE_HEADERS);
    if (!isRead(request)) refuseOtherSites(request, site);
    if (isAsset(pathOf(request))) return;
    const blind = parts.blindness();
    if (blind !== null) throw notReadyError(blind);
    const way = wayOf(request, site);
    const named = namedUser(request);
    const cookie = named === undefined && way !== null ? readCookie(request, way, "session") : null;
    const name = named ? `named ${named.toLowerCase()}` : names.of(cookie, request.clientAddress);
    const cost = isRead(request) ? 1 : COST_OF_A_CHANGE;
    const leave = await visits.enter(name, goneSignal(reply), cost);
    request.releaseSlot = leave;
    reply.raw.once("close", leave);
    const viewer = named ? await namedViewer(parts, named) : await currentViewer(request, parts, cookie);
    request.viewer = viewer;
    if (cookie !== null) names.learn(cookie, viewer?.accountId ?? null);
    const access = viewer && accessOf(request);
    if (viewer === null || access === null) return;
    try {
      await parts.db.read(() => requireOnPage(viewer, access, request.params as Record<string, string>));
    } catch (error) {
      if (isRead(request) || typeOf(request) !== URL_ENCODED || !(error instanceof FormsvcError)) throw error;
      request.refusal = error;
    }
  });
  // The slot is released before the body is streamed; streams have limits of their own.
  scope.addHook("onSend", async ({ releaseSlot }) => releaseSlot?.());
  scope.addHook("preHandler", async (request, reply) => {
    if (request.refusal !== null) throw request.refusal;
    if (request.viewer !== null || request.routeOptions.config.isOpen === true) return undefined;
    if (isRead(request))
      return reply.redirect(`/dashboard/sign-in?next=${encodeURIComponent(request.url)}`, 303);
    const path = pathOf(request);
    return sendMarkup(
      reply.code(401),
      typeOf(request) === MULTIPART ? lostFilePage(path) : lostSessionPage(path, formOf(request)),
    );
  });
}

function typeOf({ headers }: FastifyRequest): string | undefined {
  return mediaType(headers["content-type"]);
}

/** Returns whether a client is outside of the networks that may open the dashboard. For such a client the dashboard does not exist. */
function outsiders({ config }: DashboardParts): (request: FastifyRequest) => boolean {
  const { allowNetworks } = config.dashboard;
  const allowed = compileNetworks(allowNetworks);
  return ({ clientAddress, headers }) =>
    (allowNetworks.length > 0 && !allowed.contains(clientAddress)) || isFileHost(config, headers.host);
}

async function namedViewer({ db, clock }: DashboardParts, address: string): Promise<Viewer | null> {
  return (await db.read(() => findNamedViewer(address, clock.now()))) ?? null;
}

async function currentViewer(
  request: FastifyRequest,
  { db, config, clock, keyring }: DashboardParts,
  cookie: string | null,
): Promise<Viewer | null> {
  if (cookie === null) return null;
  const now = clock.now();
  const viewer = await db.read(() => findViewer(cookie, now, config.dashboard));
  if (viewer === undefined) return null;
  if (!isSeenDue(viewer, now)) return viewer;
  await db.relaxedTransaction(function* () {
    yield* noteSeen(viewer, now);
    yield* rememberAddress(keyring, viewer.accountId, request.clientAddress, now);
  });
  return viewer;
}

async function visit(
  handler: OpenHandler,
  request: FastifyRequest,
  reply: FastifyReply,
  parts: DashboardParts,
): Promise<unknown> {
  const now = parts.clock.now();
  const gone = goneSignal(reply);
  const answer = await answerOf(handler, {
    viewer: request.viewer,
    params: request.params as Record<string, string>,
    query: queryOf(request),
    form: formOf(request),
    now,
    ...performers(parts, { viewer: request.viewer, now, gone }),
    gone,
    request,
    reply,
  });
  return send(request, reply, answer, parts);
}

/** The answer of the handler, or that of a guard in its place. */
async function answerOf(handler: OpenHandler, visit: OpenVisit): Promise<Answer> {
  try {
    return await handler(visit);
  } catch (error) {
    if (error instanceof Stopped) return error.answer();
    throw error;
  }
}

async function send(
  request: FastifyRequest,
  reply: FastifyReply,
  answer: Answer,
  parts: DashboardParts,
): Promise<unknown> {
  if (answer.kind === "redirect") return reply.redirect(answer.to, 303);
  if (answer.kind === "page") return sendPage(request, reply, answer, parts);
  if (answer.kind === "file") return sendFile({ request, reply }, answer.file, answer.open);
  if (answer.kind === "checked") return reply.send(Object.fromEntries(answer.problems));
  if (answer.kind === "for script") return reply.send(answer.content);
  if (answer.kind === "events") {
    if (answer.content === null) return reply.code(204).send();
    // Otherwise nginx would hold events back until its buffer is full.
    return reply
      .header("content-type", "text/event-stream; charset=utf-8")
      .header("x-accel-buffering", "no")
      .send(answer.content);
  }
  return reply
    .header("content-type", answer.type)
    .header("content-disposition", `attachment; filename="${answer.fileName}"`)
    .send(answer.content);
}

/** Sends a page, with the navigation if somebody is signed in. */
async function sendPage(
  request: FastifyRequest,
  reply: FastifyReply,
  { title, content, status }: Page,
  { db, clock }: DashboardParts,
): Promise<unknown> {
  reply.code(status);
  const { viewer } = request;
  const whole = html`${noticeHtml(queryOf(request), request.url.split("?", 1)[0])}${content}`;
  if (viewer === null) return sendMarkup(reply, plainPage(title, whole));
  const counts = await readCounts(db, viewer, clock.now());
  return sendMarkup(reply, appPage({ title, viewer, counts, path: pathOf(request), content: whole }));
}

function sendMarkup(reply: FastifyReply, markup: Html): FastifyReply {
  return reply.header("content-type", "text/html; charset=utf-8").send(String(markup));
}

function isRead({ method }: FastifyRequest): boolean {
  return method === "GET" || method === "HEAD";
}

function pathOf({ url }: FastifyRequest): string {
  return url.split("?", 1)[0] ?? "";
}
