import type { FastifyInstance } from "fastify";
import { FormsvcError } from "../foundation/errors.ts";
import { parseBody } from "../submissions/parse-body.ts";
import { allowAnyOrigin, answerPreflight } from "./cors.ts";
import { submitOperation } from "./post-operations.ts";
import { acceptedBody, beginPost, type PostParts, sourceOf, takePost } from "./receive-post.ts";

/** `POST /submit` and its preflight. */
export function submitRoutes(server: FastifyInstance, parts: PostParts): void {
  server.options("/submit", (_request, reply) => answerPreflight(reply));

  server.post("/submit", {
    config: { operation: submitOperation },
    onRequest: (request, reply, done) => {
      allowAnyOrigin(reply);
      checkMediaType(request.headers["content-type"]);
      const { authorization } = request.headers;
      beginPost(parts, { request, reply }, { authorization, source: sourceOf(request) }, done);
    },
    handler: async (request, reply) => {
      const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
      const receipt = await takePost(parts, { request, reply }, { body, readFields: parseBody });
      return reply.send(acceptedBody(receipt));
    },
  });
}

/** The parts between semicolons that are not inside a quoted text. */
const PARAMETERS = /(?:[^;"]|"(?:[^"\\]|\\.)*"?)+/g;

/** JSON in UTF-8, with any other parameters. @throws unsupported_media_type */
function checkMediaType(header: string | undefined): void {
  if (header === "application/json") return;
  const [type = "", ...parameters] = (header ?? "").match(PARAMETERS) ?? [];
  const isJson = type.trim().toLowerCase() === "application/json";
  const charsets = parameters.map((text) =>
    /^\s*charset\s*=\s*"?([^"\s]*)"?\s*$/i.exec(text)?.[1]?.toLowerCase(),
  );
  const isUtf8 = charsets.every(
    (charset) => charset === undefined || charset === "utf-8" || charset === "utf8",
  );
  if (isJson && isUtf8) return;
  const message = isJson
    ? "The body must be UTF-8; send Content-Type: application/json."
    : "Send the fields as a JSON object with Content-Type: application/json.";
  throw new FormsvcError("unsupported_media_type", message);
}
