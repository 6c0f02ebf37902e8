import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { FormsvcError } from "../foundation/errors.ts";
import type { MaybeLater } from "../foundation/maybe-later.ts";
import type { Viewer } from "../sessions/session.ts";
import type { ReceivedFile } from "../submissions/import/import-spool.ts";
import type { Answer } from "./answer.ts";
import { type FileDesk, type FileForm, takeFileForms } from "./take-file-forms.ts";
import type { Perform, PerformWith, Stream } from "./perform.ts";

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
  /** The same for an operation that needs more than the pages have, and tells how far it is. */
  readonly performWith: PerformWith;
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

/** A form with a file that somebody who is signed in sent. */
export interface FileVisit extends Visit {
  /** Null if none was chosen. */
  readonly file: ReceivedFile | null;
}

export type FileHandler = (visit: FileVisit) => MaybeLater<Answer>;

/** The routes of one page, below `/dashboard`. */
export interface Routes {
  /** Reads and changes nothing, so that a link or a reload does no harm. */
  read(path: string, handler: Handler): void;
  /** Changes something; only our own pages can ask for it. */
  write(path: string, handler: Handler): void;
  /** The same for a form with a file, which is on disk before the handler is called. */
  writeFile(path: string, handler: FileHandler): void;
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
  desk: FileDesk,
): Routes {
  const open = { config: { isOpen: true } };
  return {
    read: (path, handler) => void scope.get(path, (...exchange) => respond(signedIn(handler), ...exchange)),
    write: (path, handler) =>
      void scope.post(path, { bodyLimit: MAX_FORM_BYTES }, (...exchange) =>
        respond(signedIn(handler), ...exchange),
      ),
    writeFile: (path, handler) =>
      void scope.register((files, _none, ready) => {
        takeFileForms(files, desk);
        files.post(path, { bodyLimit: MAX_FORM_BYTES }, (request, reply) =>
          respond(signedIn(withFile(handler, request)), request, reply),
        );
        ready();
      }),
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

function withFile(handler: FileHandler, { body }: FastifyRequest): Handler {
  return (visit) => handler({ ...visit, file: isFileForm(body) ? body.file : null });
}

function isFileForm(body: unknown): body is FileForm {
  return typeof body === "object" && body !== null && "fields" in body;
}

/** What a form sent, or nothing. */
export function formOf({ body }: FastifyRequest): URLSearchParams {
  if (isFileForm(body)) return body.fields;
  return body instanceof URLSearchParams ? body : new URLSearchParams();
}

export function queryOf(request: FastifyRequest): URLSearchParams {
  return new URLSearchParams(request.url.split("?", 2)[1] ?? "");
}
