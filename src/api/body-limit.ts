import type { FastifyInstance } from "fastify";
import type { Config } from "../config/config.ts";
import type { Log } from "../foundation/log.ts";
import { sendCodedError } from "../http/error-reply.ts";

/** Bytes of a body: a schema of the largest size fits with all that is around it, also with each character escaped or indented. */
const MAX_BODY_BYTES = 262_144;

/** Bytes that a body of a program with a token may have; its token and rights are looked at before it is read. */
export function bodyLimitOf({ server }: Config): number {
  return Math.max(MAX_BODY_BYTES, server.bodyLimitBytes);
}

/** Lets refusals of larger bodies name the limit of these routes. */
export function nameBodyLimit(scope: FastifyInstance, log: Log, limitBytes: number): void {
  scope.setErrorHandler((error, request, reply) =>
    sendCodedError({ request, reply, log }, error, limitBytes),
  );
}
