import type { FastifyInstance } from "fastify";
import type { Config } from "../config/config.ts";
import type { Log } from "../foundation/log.ts";
import { checkEncoding } from "../http/posts/check-encoding.ts";
import { sendCodedError } from "../http/error-reply.ts";

/**
 * The least limit of a body, in bytes. A schema of the largest size fits with everything around it, even if each character is escaped or
 * indented.
 */
const MAX_BODY_BYTES = 262_144;

/** The largest body, in bytes, of a program with a token. Its token and rights are checked before it is read. */
export function bodyLimitOf({ server }: Config): number {
  return Math.max(MAX_BODY_BYTES, server.bodyLimitBytes);
}

/** Refuses compressed bodies, and makes the error for a larger body name the limit of these routes. */
export function boundBodies(scope: FastifyInstance, log: Log, limitBytes: number): void {
  scope.addHook("onRequest", (request, _reply, next) => {
    checkEncoding(request.headers["content-encoding"]);
    next();
  });
  scope.setErrorHandler((error, request, reply) =>
    sendCodedError({ request, reply, log }, error, limitBytes),
  );
}
