import type { IncomingMessage } from "node:http";
import type { FastifyInstance, FastifyReply, FastifyRequest, onRequestHookHandler } from "fastify";
import type { InFlight } from "./in-flight.ts";

/** Routes that are made when the first request for one of them comes, so that a start does not wait for what nobody visits. */
export interface LateRoutes {
  /** An address without a slash at its end, like `/dashboard`: they are there and below it. */
  readonly path: string;
  /** Whether this client may know that they are there. @param host as the request has it, with its port; undefined without one */
  readonly isFor: (clientAddress: string, host: string | undefined) => boolean;
  /** Whether a browser that asks for the server's bare address is led to them. */
  readonly isFront: boolean;
  /** Whether their errors have the stable `code` of the error table. */
  readonly hasCodes: boolean;
  /** Adds them. If it rejects, the request is answered with the error, and the next one tries again. */
  readonly add: (server: FastifyInstance) => Promise<void>;
}

/** What answers the requests for late routes. */
export interface LatePart {
  /** @param path decoded, as the router reads it. */
  has(path: string): boolean;
  /** The path that the routes begin with; null if a browser is not led there, or the client may not know of them. */
  frontFor(clientAddress: string, host: string | undefined): string | null;
  /** @param fail is told if the routes cannot be made. */
  answer(request: FastifyRequest, reply: FastifyReply, fail: (error: Error) => void): void;
}

/** @param takeOver comes before all other hooks. */
export type CreateInstance = (
  idOf: (request: IncomingMessage) => string,
  takeOver: onRequestHookHandler,
) => FastifyInstance;

/**
 * The framework takes no routes once it listens. So these get an instance of their own, which never listens: the server hands it
 * requests that it has let in and whose bodies nobody has begun to read. The server counts them and logs them like its own.
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
    // Whoever asked for them may have left while they are being made.
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
    // Its answers are the server's: it is closed when they have ended, and answers until then.
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
