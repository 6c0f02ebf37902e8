import type { IncomingMessage } from "node:http";
import type { FastifyInstance, FastifyReply, FastifyRequest, onRequestHookHandler } from "fastify";
import type { InFlight } from "./connections/in-flight.ts";

/**
 * Routes that are made when the first request for one of them comes, so that the start of the server does not wait for pages that nobody
 * visits.
 */
export interface LateRoutes {
  /** An address without a slash at its end, like `/dashboard`. The routes are at and below it. */
  readonly path: string;
  /** Whether this client may know that the routes exist. @param host the request's Host header, with its port; undefined if it has none */
  readonly isFor: (clientAddress: string, host: string | undefined) => boolean;
  /** Whether a browser that requests the server's bare address is redirected to the routes. */
  readonly isFront: boolean;
  /** Whether errors of the routes have the stable `code` of the error table. */
  readonly hasCodes: boolean;
  /** Adds the routes. If it rejects, the request is answered with the error, and the next request tries again. */
  readonly add: (server: FastifyInstance) => Promise<void>;
}

/** Answers the requests for late routes. */
export interface LatePart {
  /** @param path decoded, as the router reads it */
  has(path: string): boolean;
  /** The path of the routes; null if a browser is not redirected there, or if the client may not know of them. */
  frontFor(clientAddress: string, host: string | undefined): string | null;
  /** @param fail called if the routes cannot be made */
  answer(request: FastifyRequest, reply: FastifyReply, fail: (error: Error) => void): void;
}

/** @param takeOver a hook that runs before all other hooks */
export type CreateInstance = (
  idOf: (request: IncomingMessage) => string,
  takeOver: onRequestHookHandler,
) => FastifyInstance;

/**
 * Makes the part of the server that serves late routes. The framework accepts no routes once it listens. So the late routes get an instance
 * of their own, which never listens: the server hands it requests that it has admitted and whose bodies are still unread. The server counts
 * and logs them like its own.
 */
export function createLatePart(
  server: FastifyInstance,
  { path, isFor, isFront, add }: LateRoutes,
  inFlight: InFlight,
  create: CreateInstance,
): LatePart {
  const admitted = new WeakMap<IncomingMessage, FastifyRequest>();
  let opened: Promise<FastifyInstance> | null = null;
  const [closing, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let closed: Promise<unknown> | null = null;
  server.addHook("preClose", async () => closing.resolve());
  server.addHook("onClose", async () => {
    ended.resolve();
    // A client may have requested the routes and left while they are being made.
    await opened?.catch(() => null);
    await closed;
  });
  const open = async (): Promise<FastifyInstance> => {
    const instance = create(
      (raw) => admitted.get(raw)?.id ?? "",
      (request, reply, done) => {
        const original = admitted.get(request.raw);
        if (original !== undefined) inFlight.handOn(original, request);
        reply.header("x-request-id", request.id);
        done();
      },
    );
    inFlight.followAnswers(instance);
    await add(instance);
    // The instance serves the server's requests, so it is closed only when their answers have ended.
    instance.addHook("preClose", () => ended.promise);
    await instance.ready();
    closed = closing.promise.then(() => instance.close());
    return instance;
  };
  const openOnce = (): Promise<FastifyInstance> => {
    opened ??= open().catch((error: unknown) => {
      opened = null;
      throw error;
    });
    return opened;
  };
  return {
    has: (asked) => asked === path || asked.startsWith(`${path}/`),
    frontFor: (clientAddress, host) => (isFront && isFor(clientAddress, host) ? path : null),
    answer(request, reply, fail) {
      admitted.set(request.raw, request);
      void openOnce().then((instance) => {
        reply.hijack();
        instance.routing(request.raw, reply.raw);
        return undefined;
      }, fail);
    },
  };
}
