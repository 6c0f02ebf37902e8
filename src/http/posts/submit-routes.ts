import type { FastifyInstance, FastifyRequest } from "fastify";
import { FormsvcError } from "../../foundation/errors.ts";
import { parseBody } from "../../submissions/receive/parse-body.ts";
import { allowAnyOrigin, answerPreflight } from "../cors.ts";
import { mediaType, MULTIPART } from "./form-body.ts";
import { submitOperation } from "./post-operations.ts";
import { acceptedBody, beginPost, bringsFiles, type PostParts, sourceOf, takePost } from "./receive-post.ts";
import { isUploadBody, parseUpload, takeUpload } from "./take-upload.ts";

/** The header that nearly every post has. If it is equal, nothing has to be parsed. */
const JSON_TYPE = "application/json";

/** `POST /submit` and its preflight. */
export function submitRoutes(instance: FastifyInstance, parts: PostParts): void {
  void instance.register((scope, _options, done) => {
    scope.addContentTypeParser(MULTIPART, (request: FastifyRequest) =>
      parseUpload(parts, request, { wantsPage: false }),
    );
    routes(scope, parts);
    done();
  });
}

function routes(server: FastifyInstance, parts: PostParts): void {
  server.options("/submit", (_request, reply) => answerPreflight(reply));

  server.post("/submit", {
    config: { operation: submitOperation },
    onRequest: (request, reply, done) => {
      allowAnyOrigin(reply);
      const type = request.headers["content-type"];
      const isMultipart = type !== JSON_TYPE && mediaType(type) === MULTIPART;
      if (!isMultipart) checkMediaType(type);
      const { authorization } = request.headers;
      const sender = { authorization, source: sourceOf(request), isMultipart, wantsPage: false };
      beginPost(parts, { request, reply }, sender, isMultipart ? checkTaken(request, done) : done);
    },
    handler: async (request, reply) => {
      if (isUploadBody(request.body)) {
        const receipt = await takeUpload(parts, { request, reply }, request.body);
        return reply.send(acceptedBody(receipt));
      }
      const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
      const receipt = await takePost(parts, { request, reply }, { body, readFields: parseBody });
      return reply.send(acceptedBody(receipt));
    },
  });
}

/** @param proceed called for a form that brings files to an endpoint that accepts none */
function checkTaken(request: FastifyRequest, proceed: (error?: Error) => void): (error?: Error) => void {
  return (error) => {
    if (error !== undefined || bringsFiles(request)) return proceed(error);
    proceed(notJson());
  };
}

function notJson(): FormsvcError {
  return new FormsvcError(
    "unsupported_media_type",
    "Send the fields as a JSON object with Content-Type: application/json.",
  );
}

/** The parts between semicolons that are not inside quotes. */
const PARAMETERS = /(?:[^;"]|"(?:[^"\\]|\\.)*"?)+/g;

/** Checks that a body is JSON in UTF-8; other parameters may have any value. @throws unsupported_media_type */
function checkMediaType(header: string | undefined): void {
  if (header === JSON_TYPE) return;
  const [type = "", ...parameters] = (header ?? "").match(PARAMETERS) ?? [];
  const isJson = type.trim().toLowerCase() === JSON_TYPE;
  const charsets = parameters.map((text) =>
    /^\s*charset\s*=\s*"?([^"\s]*)"?\s*$/i.exec(text)?.[1]?.toLowerCase(),
  );
  const isUtf8 = charsets.every(
    (charset) => charset === undefined || charset === "utf-8" || charset === "utf8",
  );
  if (isJson && isUtf8) return;
  if (!isJson) throw notJson();
  throw new FormsvcError(
    "unsupported_media_type",
    "The body must be UTF-8; send Content-Type: application/json.",
  );
}
