import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { createMcpHandler } from "@modelcontextprotocol/server";
import { createAuthentication, createRequestCounter } from "../api/authenticate.ts";
import { bodyLimitOf, boundBodies } from "../api/body-limit.ts";
import type { ServedParts } from "../api/parts.ts";
import { FormsvcError } from "../foundation/errors.ts";
import { requestFailed } from "../foundation/events.ts";
import type { TokenActor } from "../operations/actor.ts";
import { perform } from "../operations/perform.ts";
import { checkHost } from "./check-host.ts";
import { type AgentAccess, createMcpServer } from "./mcp-server.ts";

/** Headers of every answer: browsers and proxies store nothing of it, and no browser takes it for a page. */
const HEADERS = { "cache-control": "no-store", "x-content-type-options": "nosniff" };

/** The headers of a request that the protocol reads. */
const READ_HEADERS = [
  "accept",
  "content-type",
  "mcp-protocol-version",
  "mcp-method",
  "mcp-name",
  "mcp-session-id",
];

/**
 * Serves agents at `/mcp` with Streamable HTTP, without sessions. Each request is complete in itself, is authenticated by its token, and is
 * answered with one JSON document, or with a stream that ends with the answer.
 */
export function mountMcp(server: FastifyInstance, parts: ServedParts): void {
  const { config } = parts;
  const authenticate = createAuthentication(parts);
  const countRequest = createRequestCounter(parts);
  const handler = createMcpHandler(({ authInfo }) => createMcpServer(accessOf(parts, authInfo?.extra)), {
    // No resource changes by itself, so clients have nothing to subscribe to.
    maxSubscriptions: 0,
    keepAliveMs: 0,
  });
  server.addHook("onClose", () => handler.close());
  const addScope = (scope: FastifyInstance, _options: unknown, done: () => void): void => {
    scope.decorateRequest("agent", null);
    boundBodies(scope, parts.log, bodyLimitOf(parts.config));
    scope.route({
      method: ["GET", "POST", "DELETE"],
      url: "/mcp",
      bodyLimit: bodyLimitOf(config),
      onRequest: async (request, reply) => {
        reply.headers(HEADERS);
        checkHost(request.headers, config.server.baseUrl);
        request.agent = await authenticate(request, reply);
      },
      handler: async (request, reply) => {
        const { agent } = request;
        if (agent === null) throw new FormsvcError("unauthorized");
        for (let further = messagesIn(request.body) - 1; further > 0; further -= 1)
          countRequest(agent, request, reply);
        const { tokenId: clientId, scopes } = agent;
        const authInfo = {
          token: "",
          clientId,
          scopes: [...scopes],
          extra: { agent, requestId: request.id },
        };
        return send(reply, await handler.fetch(webRequestOf(request), { authInfo }));
      },
    });
    done();
  };
  server.register(addScope);
}

declare module "fastify" {
  interface FastifyRequest {
    /** The actor of an agent's token; null on other routes. */
    agent: TokenActor | null;
  }
}

function accessOf(parts: ServedParts, extra: Record<string, unknown> | undefined): AgentAccess {
  const { agent, requestId } = extra as { readonly agent: TokenActor; readonly requestId: string };
  const { db, config, clock, log, onChange } = parts;
  return {
    actor: agent,
    call: (operation, input) =>
      perform(
        { db, config, now: clock.now(), actor: agent, parts: parts as never, onChange },
        operation,
        input,
      ),
    baseUrl: config.server.baseUrl,
    groups: config.mcp.allow,
    redacts: config.mcp.redact,
    onDefect: (error, tool) =>
      requestFailed(log, { reqId: requestId, code: "internal" }, error, `the tool ${tool} failed`),
  };
}

/** The number of messages in a body: clients of the first protocol of 2025 may send several together, and each counts as a request. */
function messagesIn(body: unknown): number {
  if (!Buffer.isBuffer(body)) return 1;
  const text = body.toString("utf8");
  if (!text.trimStart().startsWith("[")) return 1;
  try {
    return (JSON.parse(text) as unknown[]).length;
  } catch {
    // The handler says what is wrong with it.
    return 1;
  }
}

function webRequestOf({ method, headers, body, raw }: FastifyRequest): Request {
  const read = READ_HEADERS.flatMap((name): [string, string][] => {
    const value = headers[name];
    return typeof value === "string" ? [[name, value]] : [];
  });
  return new Request(`http://${headers.host ?? "localhost"}${raw.url ?? "/mcp"}`, {
    method,
    headers: read,
    ...(Buffer.isBuffer(body) && { body: new Uint8Array(body) }),
  });
}

/** Sends an answer that ends. A request for a separate stream is refused. */
async function send(reply: FastifyReply, answer: Response): Promise<FastifyReply> {
  const text = await answer.text();
  for (const name of ["content-type", "allow"]) {
    const value = answer.headers.get(name);
    if (value !== null) reply.header(name, value);
  }
  return reply.code(answer.status).send(text);
}
