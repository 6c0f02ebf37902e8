import type { FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import type { ByteRange, FileStream } from "../files/read-file.ts";
import type { FileFacts } from "../schemas/posted-file.ts";

/** Headers that make a browser save a stranger's file: it is never shown, runs nowhere, and is kept in no cache. */
const SAFE_HEADERS: Readonly<Record<string, string>> = {
  "x-content-type-options": "nosniff",
  "content-security-policy": "default-src 'none'; sandbox",
  "cross-origin-resource-policy": "same-origin",
  "cache-control": "no-store",
  "referrer-policy": "no-referrer",
};

/** The headers of every answer that contains a file. */
export function fileHeaders({ name, type, sha256 }: Omit<FileFacts, "id" | "size">): Record<string, string> {
  return {
    ...SAFE_HEADERS,
    etag: `"${sha256}"`,
    "content-type": type,
    "content-disposition": disposition(name),
  };
}

/** What an operation that serves a file answers. */
export const fileAnswers = {
  200: {
    description: "The file, of the type that its content has.",
    content: { "application/octet-stream": z.string() },
  },
  206: { description: "A part of it.", content: { "application/octet-stream": z.string() } },
  416: { description: "The file is shorter." },
};

/** Sends a file, or the part that `Range` asks for, so that a client can resume an interrupted download. */
export function sendFile(
  { request, reply }: { readonly request: FastifyRequest; readonly reply: FastifyReply },
  file: FileFacts,
  open: (range: ByteRange) => FileStream,
): FastifyReply {
  const etag = `"${file.sha256}"`;
  void reply.headers(fileHeaders(file)).header("accept-ranges", "bytes");
  const { range: asked, "if-range": unless } = request.headers;
  const range =
    asked === undefined || (unless !== undefined && unless !== etag) ? null : readRange(asked, file.size);
  if (range === "unsatisfiable") {
    return reply
      .code(416)
      .removeHeader("content-disposition")
      .header("content-range", `bytes */${file.size}`)
      .header("content-type", "application/json; charset=utf-8")
      .send({
        error: "Range not satisfiable",
        message: `The file has ${file.size} bytes; ask for a part of them.`,
      });
  }
  const { first, last } = range ?? { first: 0, last: file.size - 1 };
  if (range !== null) void reply.code(206).header("content-range", `bytes ${first}-${last}/${file.size}`);
  void reply.header("content-length", last - first + 1);
  if (request.method === "HEAD") return reply.send(null);
  return reply.send(open({ first, last }));
}

/** Reads a Range header. Null means the whole file: the header has no range that we support, or several. */
function readRange(header: string, size: number): ByteRange | "unsatisfiable" | null {
  const [, from = "", to = ""] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header) ?? [];
  if (from === "" && to === "") return null;
  if (from === "")
    return Number(to) === 0 ? "unsatisfiable" : { first: Math.max(0, size - Number(to)), last: size - 1 };
  const first = Number(from);
  const last = to === "" ? size - 1 : Math.min(Number(to), size - 1);
  if (first >= size) return "unsatisfiable";
  return last < first ? null : { first, last };
}

/**
 * The header value with the name in both forms: in the one for old readers, `_` replaces each character beyond ASCII (RFC 6266, RFC 8187).
 */
function disposition(name: string): string {
  const plain = name.replace(/[^\x20-\x7e]|["\\%]/g, "_");
  const encoded = encodeURIComponent(name).replace(
    /['()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`;
}
