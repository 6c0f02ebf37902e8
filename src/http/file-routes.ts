import type { FastifyInstance } from "fastify";
import { z } from "zod";
import type { LinkedFiles } from "../submissions/files/linked-files.ts";
import { describeError, type ErrorCode, FormsvcError } from "../foundation/errors.ts";
import { type DeadLinkPage, sendDeadLink } from "./visitors/dead-link-page.ts";
import { fileAnswers, sendFile } from "./file-reply.ts";
import { prefersPage } from "./prefers-json.ts";
import { COMMON_ERRORS, type RouteDescription } from "./operation.ts";

export interface FileRoutesParts {
  readonly linkedFiles: LinkedFiles;
}

interface LinkedRequest {
  readonly Params: { readonly file: string };
  /** The value of a parameter that is given twice is a list. */
  readonly Querystring: Readonly<Record<string, unknown>>;
}

/** Serves a file to everybody who has its signed address, which messages contain. */
export function fileRoutes(server: FastifyInstance, { linkedFiles }: FileRoutesParts): void {
  server.get<LinkedRequest>("/files/:file", {
    config: { operation: linkedOperation },
    handler: async (request, reply) => {
      const { until, sig } = request.query;
      const link = { id: request.params.file, until: textOf(until), signature: textOf(sig) };
      try {
        const { file, open } = await linkedFiles.open(link);
        return sendFile({ request, reply }, file, open);
      } catch (error) {
        // People follow the links of e-mails; a program gets the error as JSON.
        const page = error instanceof FormsvcError ? PAGES[error.code] : undefined;
        if (page === undefined || !prefersPage(request.headers.accept)) throw error;
        const { code, facts } = error as FormsvcError;
        if (facts.retryAfterSeconds !== undefined) reply.header("retry-after", facts.retryAfterSeconds);
        return sendDeadLink({ request, reply: reply.code(describeError(code).status) }, page);
      }
    },
  });
}

const DEAD: DeadLinkPage = { title: "deadTitle", lines: ["deadFile"] };

/** What people read, by why they do not get the file. */
const PAGES: Readonly<Partial<Record<ErrorCode, DeadLinkPage>>> = {
  not_found: DEAD,
  gone: DEAD,
  conflict: { title: "failedTitle", lines: ["stateScanning"] },
  forbidden: { title: "failedTitle", lines: ["stateUnscanned"] },
};

/** The value of a parameter; empty if it is missing or given twice. */
function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

const linkedOperation: RouteDescription = {
  id: "getLinkedFile",
  summary: "Get a file by the signed address that a webhook’s message has",
  description:
    "The address ends after `files.linkDays`. Whatever is wrong with it is 404. `Range` is answered with the part that it asks for.",
  key: "none",
  path: z.object({ file: z.string().describe("The id of a file.") }),
  query: z.object({
    until: z.string().describe("When the address expires, in seconds since 1970 UTC."),
    sig: z.string().describe("The signature, which shows that the server made this address."),
  }),
  answers: fileAnswers,
  errors: ["forbidden", "not_found", "conflict", "gone", ...COMMON_ERRORS],
};
