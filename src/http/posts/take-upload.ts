import type { FastifyReply, FastifyRequest } from "fastify";
import { coerceUpload } from "../../submissions/receive/incoming-file.ts";
import { fieldPath } from "../../submissions/receive/coerce-form.ts";
import {
  noteRefusal,
  type PostContent,
  type PostParts,
  type PostSender,
  type Receipt,
  takePost,
} from "./receive-post.ts";
import { readUpload, type UploadBody } from "./upload-body.ts";

/**
 * Reads the body of a request whose endpoint has fields for files. If its sender wants a page, the rest of the form is read after its files
 * are refused, to show what was typed.
 */
export async function parseUpload(
  parts: PostParts,
  request: FastifyRequest,
  { wantsPage }: Pick<PostSender, "wantsPage">,
): Promise<UploadBody> {
  const schema = request.begun?.caller.ready.schema;
  if (schema === undefined || request.flight === null)
    throw new Error("an upload must be begun before its body is read");
  return await readUpload(request.raw, {
    uploads: parts.uploads,
    sender: request.flight.holder,
    reservation: request.begun?.reservation ?? null,
    fields: schema.fileFields ?? new Map(),
    fieldOf: (name) => fieldPath(name, schema.definition)[0] ?? name,
    textLimitBytes: parts.bodyLimitBytes,
    refusal: request.begun?.refusal ?? null,
    readsOn: wantsPage,
  });
}

export function isUploadBody(body: unknown): body is UploadBody {
  return typeof body === "object" && body !== null && "identity" in body;
}

/** Stores a form with its files, or refuses both. In any case the room for the files is released. */
export async function takeUpload(
  parts: PostParts,
  exchange: { readonly request: FastifyRequest; readonly reply: FastifyReply },
  upload: UploadBody,
  sent: Pick<PostContent, "source" | "once"> = {},
): Promise<Receipt> {
  const { entries, files, identity, problem, isCut } = upload;
  try {
    // Nobody reads the rest of the body.
    if (isCut) exchange.reply.header("connection", "close");
    if (problem !== null) {
      if (problem === exchange.request.begun?.refusal) await noteRefusal(parts, exchange.request, problem);
      throw problem;
    }
    return await takePost(parts, exchange, {
      body: identity,
      readFields: (_body, definition) => coerceUpload(entries, files, definition),
      files,
      ...sent,
    });
  } finally {
    await upload.close();
  }
}
