import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import { version } from "../../foundation/version.ts";
import { module, moduleTypes, pageScript, script, scriptTypes } from "./browser-client.generated.ts";
import type { RouteDescription } from "../operation.ts";

/** Seconds that a browser may cache the newest script. After an upgrade, a page may use the old script for this time. */
const NEWEST_SECONDS = 3600;
const FOREVER = "public, max-age=31536000, immutable";

/** A file that is kept in memory and served as it is. */
interface Asset {
  readonly type: string;
  readonly cacheControl: string;
  readonly plain: Buffer;
  readonly gzipped: Buffer;
  readonly etag: string;
}

/**
 * `GET /formsvc.js` serves the newest client. Its first line has the address of exactly this version, whose content never changes, so it
 * can be pinned by its hash. `GET /formsvc.mjs` serves the same as a module, with such an address too. `GET /formsvc.d.ts` and
 * `/formsvc.d.mts` serve their types.
 */
export function browserClientRoutes(server: FastifyInstance): void {
  const integrity = `sha384-${createHash("sha384").update(script).digest("base64")}`;
  const pinnedPath = `/formsvc-${shortHash(script)}.js`;
  const pinnedModule = `/formsvc-${shortHash(module)}.mjs`;
  const tag = `<script src="…${pinnedPath}" integrity="${integrity}" crossorigin="anonymous" defer></script>`;
  const newest = `public, max-age=${NEWEST_SECONDS}`;
  const javascript = "text/javascript; charset=utf-8";
  const files: Readonly<Record<string, Asset>> = {
    "/formsvc.js": asset(`/* formsvc ${version}. To pin it: ${tag} */\n${script}`, javascript, newest),
    [pinnedPath]: asset(script, javascript, FOREVER),
    "/formsvc-page.js": asset(pageScript, javascript, newest),
    "/formsvc.d.ts": asset(scriptTypes, "text/plain; charset=utf-8", newest),
    "/formsvc.mjs": asset(
      `/* formsvc ${version}. To pin it: …${pinnedModule} */\n${module}`,
      javascript,
      newest,
    ),
    [pinnedModule]: asset(module, javascript, FOREVER),
    "/formsvc.d.mts": asset(moduleTypes, "text/plain; charset=utf-8", newest),
  };
  for (const [path, file] of Object.entries(files)) {
    const options = path === "/formsvc.js" ? { config: { operation: scriptOperation } } : {};
    server.get(path, options, (request, reply) => sendAsset(request, reply, file));
  }
}

function shortHash(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 12);
}

function asset(text: string, type: string, cacheControl: string): Asset {
  const plain = Buffer.from(text);
  const etag = `W/"${createHash("sha256").update(plain).digest("hex").slice(0, 32)}"`;
  return { type, cacheControl, plain, gzipped: gzipSync(plain, { level: 9 }), etag };
}

/** Any page may load the file. For a script with an `integrity` hash, browsers require this header. */
function sendAsset(request: FastifyRequest, reply: FastifyReply, file: Asset): FastifyReply {
  reply
    .header("content-type", file.type)
    .header("cache-control", file.cacheControl)
    .header("etag", file.etag)
    .header("vary", "Accept-Encoding")
    .header("access-control-allow-origin", "*")
    .header("cross-origin-resource-policy", "cross-origin")
    .header("x-content-type-options", "nosniff");
  if (isCurrent(request.headers["if-none-match"], file.etag)) return reply.code(304).send();
  const gzip = /\bgzip\b(?!\s*;\s*q=0(?:\.0{0,3})?\s*(?:,|$))/i.test(
    request.headers["accept-encoding"] ?? "",
  );
  return gzip ? reply.header("content-encoding", "gzip").send(file.gzipped) : reply.send(file.plain);
}

function isCurrent(ifNoneMatch: string | undefined, etag: string): boolean {
  const strong = etag.slice(2);
  return (ifNoneMatch ?? "").split(",").some((entry) => {
    const known = entry.trim();
    return known === "*" || known === etag || known === strong;
  });
}

const scriptOperation: RouteDescription = {
  id: "browserClient",
  summary: "The browser client",
  key: "none",
  answers: {
    200: { description: "A script.", content: { "text/javascript": z.string() } },
    304: { description: "The one that `If-None-Match` names." },
  },
  errors: ["internal", "unavailable"],
};
