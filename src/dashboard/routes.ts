import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { FormsvcError } from "../foundation/errors.ts";
import type { MaybeLater } from "../foundation/maybe-later.ts";
import type { Viewer } from "../sessions/session.ts";
import type { Answer } from "./answer.ts";
import type { Perform, Stream } from "./perform.ts";

/** One request of somebody who is signed in. */
export interface Visit {
  readonly viewer: Viewer;
  /** Parts of the path, by the names in the route. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** What a form sent; empty when a page is read. */
  readonly form: URLSearchParams;
  /** Milliseconds. */
  readonly now: number;
  /** Runs an operation; the only way in which pages change anything. */
  readonly perform: Perform;
  /** The same for an operation whose output comes in parts. */
  readonly stream: Stream;
  /** Aborted when the client hangs up before it has the whole answer. */
  readonly gone: AbortSignal;
  readonly request: FastifyRequest;
  /** For cookies alone: the answer is what the handler returns. */
  readonly reply: FastifyReply;
}

/** A request of anybody. */
export type OpenVisit = Omit<Visit, "viewer"> & { readonly viewer: Viewer | null };

export type Handler = (visit: Visit) => MaybeLater<Answer>;
export type OpenHandler = (visit: OpenVisit) => MaybeLater<Answer>;

/** The routes of one page, below `/dashboard`. */
export interface Routes {
  /** Reads and changes nothing, so that a link or a reload does no harm. */
  read(path: string, handler: Handler): void;
  /** Changes something; only our own pages can ask for it. */
  write(path: string, handler: Handler): void;
  /** The same two for pages that nobody needs a session for. */
  openRead(path: string, handler: OpenHandler): void;
  openWrite(path: string, handler: OpenHandler): void;
}

declare module "fastify" {
  interface FastifyContextConfig {
    /** Whether the dashboard answers it without a session. */
    isOpen?: boolean;
  }
}

/** Bytes of a form; a schema with a hundred fields has 30 KB. */
export const MAX_FORM_BYTES = 262_144;
/** Bytes of a form that is read from anybody. */
const MAX_OPEN_FORM_BYTES = 8192;

export function createRoutes(
  scope: FastifyInstance,
  respond: (handler: OpenHandler, request: FastifyRequest, reply: FastifyReply) => Promise<unknown>,
): Routes {
  const open = { config: { isOpen: true } };
  return {
    read: (path, handler) => void scope.get(path, (...exchange) => respond(signedIn(handler), ...exchange)),
    write: (path, handler) =>
      void scope.post(path, { bodyLimit: MAX_FORM_BYTES }, (...exchange) =>
        respond(signedIn(handler), ...exchange),
      ),
    openRead: (path, handler) => void scope.get(path, open, (...exchange) => respond(handler, ...exchange)),
    openWrite: (path, handler) =>
      void scope.post(path, { ...open, bodyLimit: MAX_OPEN_FORM_BYTES }, (...exchange) =>
        respond(handler, ...exchange),
      ),
  };
}

/** The guard lets nobody else pass; should it ever fail, nothing is shown. */
function signedIn(handler: Handler): OpenHandler {
  return (visit) => {
    if (visit.viewer === null) throw new FormsvcError("unauthorized", "Sign in first.");
    return handler({ ...visit, viewer: visit.viewer });
  };
}

/** What a form sent, or nothing. */
export function formOf(request: FastifyRequest): URLSearchParams {
  return request.body instanceof URLSearchParams ? request.body : new URLSearchParams();
}

export function queryOf(request: FastifyRequest): URLSearchParams {
  return new URLSearchParams(request.url.split("?", 2)[1] ?? "");
}
