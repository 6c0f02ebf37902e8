import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import { FormsvcError } from "../foundation/errors.ts";
import { type Caller, refuseSecretInBrowser } from "../submissions/receive/authenticate.ts";
import { submissionJson, submissionSchema } from "../submissions/stored/submission-json.ts";
import { EVERY_SUBMISSION } from "../submissions/stored/submission-store.ts";
import type { OpenedFile, SubmissionReader } from "../submissions/find/submission-reader.ts";
import { fileAnswers, sendFile } from "./file-reply.ts";
import { goneSignal } from "./connections/gone-signal.ts";
import { COMMON_ERRORS, type RouteDescription, readQuery } from "./operation.ts";
import { type CallerParts, identify, isFromBrowser } from "./posts/receive-post.ts";

export interface SubmissionRoutesParts extends CallerParts {
  readonly reader: SubmissionReader;
  readonly onSecretInBrowser: (caller: Caller) => void;
  /** Reads files for requests with a token; null if the server accepts no tokens. */
  readonly tokenFiles: TokenFiles | null;
}

interface Exchange {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/**
 * Opens a file of a submission for a request with a token.
 *
 * @throws unauthorized, forbidden, rate_limited, and the errors of `SubmissionReader.file`
 */
export type TokenFiles = (exchange: Exchange, named: OneFile["Params"]) => Promise<OpenedFile>;

/** The largest number of submissions on one page over HTTP, and the default. */
const MAX_LIMIT = 100;
const DEFAULT_LIMIT = 25;

/** Routes by which the holder of an endpoint's secret key reads and deletes submissions. */
export function submissionRoutes(server: FastifyInstance, parts: SubmissionRoutesParts): void {
  server.get("/submissions", {
    config: { operation: listOperation },
    handler: async (request, reply) => {
      const endpointId = await readableEndpoint(parts, request);
      const { limit, cursor = null, since, until, class: spamClass = null } = readQuery(query, request.query);
      const filter = {
        ...EVERY_SUBMISSION,
        endpointIds: [endpointId],
        spamClass,
        since: toMs(since),
        until: toMs(until),
      };
      const page = await parts.reader.list(filter, limit, cursor, goneSignal(reply));
      return { data: page.data.map(submissionJson), next_cursor: page.nextCursor };
    },
  });

  server.get<OneSubmission>("/submissions/:id", {
    config: { operation: showOperation },
    handler: async (request) =>
      submissionJson(await parts.reader.get(await readableEndpoint(parts, request), request.params.id)),
  });

  server.get<OneFile>("/submissions/:id/files/:file", {
    config: { operation: fileOperation },
    handler: async (request, reply) => {
      const { file, open } = await findFile(parts, { request, reply }, request.params);
      return sendFile({ request, reply }, file, open);
    },
  });

  server.delete<OneSubmission>("/submissions/:id", {
    config: { operation: deleteOperation },
    handler: async (request, reply) => {
      await parts.reader.remove(await readableEndpoint(parts, request), request.params.id);
      return reply.code(204).send();
    },
  });
}

interface OneSubmission {
  readonly Params: { readonly id: string };
}

interface OneFile {
  readonly Params: { readonly id: string; readonly file: string };
}

const WITH_TOKEN = /^bearer +fat_/i;

async function findFile(
  parts: SubmissionRoutesParts,
  exchange: Exchange,
  named: OneFile["Params"],
): Promise<OpenedFile> {
  const { request } = exchange;
  if (parts.tokenFiles !== null && WITH_TOKEN.test(request.headers.authorization ?? "")) {
    parts.noticeChanges();
    return parts.tokenFiles(exchange, named);
  }
  return parts.reader.file(await readableEndpoint(parts, request), named.id, named.file);
}

/** The id of the endpoint whose submissions the request's key may read. A paused endpoint accepts no posts but can be read. */
async function readableEndpoint(parts: SubmissionRoutesParts, request: FastifyRequest): Promise<string> {
  const caller = await identify(parts, request);
  parts.gatekeeper.admit(caller);
  refuseSecretInBrowser(caller, isFromBrowser(request), parts.onSecretInBrowser);
  if (caller.key.kind === "publishable") {
    throw new FormsvcError("forbidden", "A publishable key can only post; read with the secret key.");
  }
  return caller.ready.endpoint.id;
}

function toMs(time: string | undefined): number | null {
  return time === undefined ? null : Date.parse(time);
}

const limitRange = `expected a whole number from 1 to ${MAX_LIMIT}`;

const time = z.union([z.iso.datetime({ offset: true }), z.iso.date()], {
  error: "expected a time like 2026-01-31 or 2026-01-31T12:00:00Z",
});

const query = z.strictObject({
  limit: z
    .string({ error: "given more than once" })
    .regex(/^\d{1,4}$/, limitRange)
    .transform(Number)
    .pipe(z.int().min(1, limitRange).max(MAX_LIMIT, limitRange))
    .default(DEFAULT_LIMIT)
    .describe("The largest number of submissions in the answer."),
  cursor: z.string().optional().describe("The `next_cursor` of the page before."),
  since: time.optional().describe("Only submissions that came at this time or later."),
  until: time.optional().describe("Only submissions that came before this time."),
  class: z.enum(["low", "medium", "high"]).optional().describe("Only submissions of this spam class."),
});

const page = z
  .object({ data: z.array(submissionSchema), next_cursor: z.string().nullable() })
  .meta({ id: "SubmissionPage" });

const path = z.object({ id: z.string().describe("A submission's id.") });

const READ_ERRORS = ["unauthorized", "forbidden", "rate_limited", ...COMMON_ERRORS] as const;

const listOperation: RouteDescription = {
  id: "listSubmissions",
  summary: "List the endpoint's submissions, newest first",
  description:
    "A page ends at `limit` or at 1 MiB of JSON, whichever comes first: go on while `next_cursor` is not null.",
  key: "secret",
  query,
  answers: { 200: { description: "One page.", content: { "application/json": page } } },
  errors: ["invalid_request", ...READ_ERRORS],
};

const showOperation: RouteDescription = {
  id: "getSubmission",
  summary: "Show a submission",
  key: "secret",
  path,
  answers: { 200: { description: "The submission.", content: { "application/json": submissionSchema } } },
  errors: ["not_found", ...READ_ERRORS],
};

const fileOperation: RouteDescription = {
  id: "getFile",
  summary: "Get a file of a submission",
  description:
    "`Range` is answered with the part that it asks for. A token of the management API with `submissions:read` is taken too.",
  key: "secret",
  path: path.extend({ file: z.string().describe("The id of one of its files.") }),
  answers: fileAnswers,
  errors: ["not_found", "conflict", "gone", ...READ_ERRORS],
};

const deleteOperation: RouteDescription = {
  id: "deleteSubmission",
  summary: "Delete a submission for good",
  key: "secret",
  path,
  answers: { 204: { description: "It is gone." } },
  errors: ["not_found", ...READ_ERRORS],
};
