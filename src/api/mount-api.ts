import type { FastifyInstance, FastifyRequest } from "fastify";
import { requireAccess, type TokenActor } from "../operations/actor.ts";
import { answerRequest } from "./answer-request.ts";
import { compileNetworks } from "../foundation/ip-address.ts";
import { bodyLimitOf, boundBodies } from "./body-limit.ts";
import { createAuthentication, refusePlainHttp } from "./authenticate.ts";
import { chooseRun } from "./dry-run.ts";
import { takeFiles } from "./file-bodies.ts";
import { loginRoutes } from "./login-routes.ts";
import { narrow, ONLY_HEADER } from "./narrow.ts";
import { openapiDocument } from "./openapi.ts";
import type { ServedParts } from "./parts.ts";
import { requireRole } from "./require-role.ts";
import { type ApiRoute, ROUTES } from "./routes.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** The actor of the request's token; null on routes outside of the API. */
    actor: TokenActor | null;
  }
}

/** Headers of every answer: browsers and proxies store nothing of it, and no browser takes it for a page. */
const HEADERS = { "cache-control": "no-store", "x-content-type-options": "nosniff" };

/** Adds the routes of the API under `/api/v1`. Token, scopes and role are checked before any of the body is read. */
export function mountApi(server: FastifyInstance, parts: ServedParts): void {
  const authenticate = createAuthentication(parts);
  let document: string | null = null;
  const closing = new AbortController();
  const served = { ...parts, closing: closing.signal };
  server.addHook("preClose", async () => closing.abort());
  const addScope = (scope: FastifyInstance, _options: unknown, done: () => void): void => {
    scope.decorateRequest("actor", null);
    boundBodies(scope, parts.log, bodyLimitOf(parts.config));
    scope.addHook("onRequest", (_request, reply, next) => {
      reply.headers(HEADERS);
      next();
    });
    scope.get("/openapi.json", (_request, reply) => {
      document ??= JSON.stringify(openapiDocument(parts.config.server.baseUrl), null, 2);
      return reply.header("content-type", "application/json; charset=utf-8").send(document);
    });
    const proxies = compileNetworks(parts.config.server.trustProxy);
    scope.register((logins, _none, ready) => {
      loginRoutes(logins, parts, (request) => refusePlainHttp(request, proxies));
      ready();
    });
    const add = (to: FastifyInstance, route: ApiRoute): void => {
      to.route({
        method: route.method,
        url: route.path,
        bodyLimit: bodyLimitOf(parts.config),
        onRequest: async (request, reply) => {
          const whole = await authenticate(request, reply);
          request.actor = await narrow(parts.db, whole, request.headers[ONLY_HEADER]);
          const { route: chosen } = chooseRun(route, request.url);
          requireAccess(request.actor, chosen.operation.access);
          await requireRole(chosen, parts, request.actor, request.params as Record<string, string>);
        },
        handler: (request, reply) =>
          answerRequest(chooseRun(route, request.url), served, { actor: actorOf(request), request, reply }),
      });
    };
    for (const route of ROUTES) if (!route.takesFile) add(scope, route);
    scope.register((files, _none, ready) => {
      takeFiles(files, parts.imports);
      for (const route of ROUTES) if (route.takesFile) add(files, route);
      ready();
    });
    done();
  };
  server.register(addScope, { prefix: "/api/v1" });
}

function actorOf({ actor }: FastifyRequest): TokenActor {
  if (actor === null) throw new Error("a route of the API without authentication");
  return actor;
}
