import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import type { FastifyInstance } from "fastify";
import { script, style } from "./assets.generated.ts";

/** The path before the paths of the scope. */
const PREFIX = "/dashboard";

/** The names of these files change with their content, so browsers can keep them for good, and see an upgrade at once. */
export const STYLE_PATH = named(style, "css");
export const SCRIPT_PATH = named(script, "js");

/** Whether a path is that of the style sheet or the script, of this version or of another one. */
export function isAsset(path: string): boolean {
  return path.startsWith(`${PREFIX}/assets/`);
}

/** Serves the style sheet and the script, which are all that a page loads. */
export function assetRoutes(scope: FastifyInstance): void {
  const assets = [
    { path: STYLE_PATH, type: "text/css; charset=utf-8", content: style },
    { path: SCRIPT_PATH, type: "text/javascript; charset=utf-8", content: script },
  ];
  for (const { path, type, content } of assets) {
    const gzipped = gzipSync(content, { level: 9 });
    scope.get(path.slice(PREFIX.length), { config: { isOpen: true } }, (request, reply) => {
      reply
        .header("content-type", type)
        .header("cache-control", "public, max-age=31536000, immutable")
        .header("vary", "Accept-Encoding");
      const takesGzip = /\bgzip\b/i.test(request.headers["accept-encoding"] ?? "");
      return takesGzip ? reply.header("content-encoding", "gzip").send(gzipped) : reply.send(content);
    });
  }
}

function named(content: string, extension: string): string {
  const hash = createHash("sha256").update(content).digest("hex").slice(0, 12);
  return `${PREFIX}/assets/formsvc-${hash}.${extension}`;
}
