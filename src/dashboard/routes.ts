import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { FormsvcError } from "../foundation/errors.ts";
import type { MaybeLater } from "../foundation/maybe-later.ts";
import type { Viewer } from "../sessions/session.ts";
import type { ReceivedFile } from "../submissions/import/import-spool.ts";
import type { Answer } from "./answer.ts";
import { type FileDesk, type FileForm, takeFileForms } from "./take-file-forms.ts";
import type { Perform, PerformWith, Stream } from "./perform.ts";

/** A request of a person who is signed in. */
export interface Visit {
  readonly viewer: Viewer;
  /** Parts of the path, by the names in the route. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** The content of the sent form; empty if a page is read. */
  readonly form: URLSearchParams;
  /** Milliseconds since 1970 UTC. */
  readonly now: number;
  /** Runs an operation. Pages can change something in no other way. */
  readonly perform: Perform;
  /** Like `perform`, for an operation that needs more parts than the pages have and reports its progress. */
  readonly performWith: PerformWith;
  /** Like `perform`, for an operation whose output comes in parts. */
  readonly stream: Stream;
  /** Aborted when the client hangs up before it has the whole answer. */
  readonly gone: AbortSignal;
  readonly request: FastifyRequest;
  /** Only for setting cookies. The answer is what the handler returns. */
  readonly reply: FastifyReply;
}

/** A request of anybody, signed in or not. */
export type OpenVisit = Omit<Visit, "viewer"> & { readonly viewer: Viewer | null };

export type Handler = (visit: Visit) => MaybeLater<Answer>;
export type OpenHandler = (visit: OpenVisit) => MaybeLater<Answer>;

/** A form with a file, sent by a person who is signed in. */
interface FileVisit extends Visit {
  /** Null if no file was chosen. */
  readonly file: ReceivedFile | null;
}

type FileHandler = (visit: FileVisit) => MaybeLater<Answer>;

/** Adds the routes of one page, below `/dashboard`. */
export interface Routes {
  /** Adds a page that changes nothing, so that a link or a reload does no harm. */
  read(path: string, handler: Handler): void;
  /** Adds a form that changes something. Only our own pages can send it. */
  write(path: string, handler: Handler): void;
  /** Like `write`, for a form with a file, which is on disk before the handler is called. */
  writeFile(path: string, handler: FileHandler): void;
  /** Like `read`, and the next like `write`, for pages that need no session. */
  openRead(path: string, handler: OpenHandler): void;
  openWrite(path: string, handler: OpenHandler): void;
}

declare module "fastify" {
  interface FastifyContextConfig {
    /** Whether the route answers without a session. */
    isOpen?: boolean;
  }
}

/** The largest form, in bytes. A schema with a hundred fields has 30 KB. */
export const MAX_FORM_BYTES = 262_144;
/** The largest form that is read from somebody without a session, in bytes. */
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

/** Makes a handler for signed-in viewers only. The guard already stops everybody else; should it ever fail, nothing is shown. */
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

/** The content of the sent form; empty if there is none. */
export function formOf({ body }: FastifyRequest): URLSearchParams {
  if (isFileForm(body)) return body.fields;
  return body instanceof URLSearchParams ? body : new URLSearchParams();
}

export function queryOf(request: FastifyRequest): URLSearchParams {
  return new URLSearchParams(request.url.split("?", 2)[1] ?? "");
}
