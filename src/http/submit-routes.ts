import type { FastifyInstance, FastifyRequest } from "fastify";
import { FormsvcError } from "../foundation/errors.ts";
import type { NetworkList } from "../foundation/ip-address.ts";
import type { Gatekeeper } from "../submissions/authenticate.ts";
import type { RateState } from "../submissions/rate-limit.ts";
import type { IncomingPost, Receiver } from "../submissions/receive-submission.ts";
import { clientAddress } from "./client-address.ts";
import { allowAnyOrigin, allowEndpointOrigin, answerPreflight } from "./cors.ts";

export interface SubmitRoutesParts {
  readonly gatekeeper: Gatekeeper;
  readonly receiver: Receiver;
  readonly noticeChanges: () => void;
  readonly trustedProxies: NetworkList;
}

/** `POST /submit` and its preflight. */
export function submitRoutes(server: FastifyInstance, parts: SubmitRoutesParts): void {
  server.options("/submit", (_request, reply) => answerPreflight(reply));

  server.post("/submit", {
    onRequest: (request, reply, done) => {
      allowAnyOrigin(reply);
      done(checkMediaType(request.headers["content-type"]));
    },
    handler: async (request, reply) => {
      parts.noticeChanges();
      const address = clientAddress(request.raw, parts.trustedProxies);
      const caller = await parts.gatekeeper.authenticate(request.headers.authorization, address);
      allowEndpointOrigin(reply, caller.ready, request.headers.origin);
      const receipt = await parts.receiver.receive(caller, readPost(request));
      if (receipt.rate !== null) {
        const { limit, remaining, resetSeconds } = receipt.rate satisfies RateState;
        reply
          .header("ratelimit-limit", limit)
          .header("ratelimit-remaining", remaining)
          .header("ratelimit-reset", resetSeconds);
      }
      return reply.send({
        success: true,
        message: "Submission received",
        submission_id: receipt.submissionId,
      });
    },
  });
}

/** JSON in UTF-8, whatever other parameters it has. */
function checkMediaType(header: string | undefined): FormsvcError | undefined {
  const [type = "", ...parameters] = (header ?? "").split(";");
  const isJson = type.trim().toLowerCase() === "application/json";
  const charsets = parameters.map((text) =>
    /^\s*charset\s*=\s*"?([^"\s]*)"?\s*$/i.exec(text)?.[1]?.toLowerCase(),
  );
  const isUtf8 = charsets.every(
    (charset) => charset === undefined || charset === "utf-8" || charset === "utf8",
  );
  if (isJson && isUtf8) return undefined;
  const message = isJson
    ? "The body must be UTF-8; send Content-Type: application/json."
    : "Send the fields as a JSON object with Content-Type: application/json.";
  return new FormsvcError("unsupported_media_type", message);
}

function readPost(request: FastifyRequest): IncomingPost {
  const { headers } = request;
  const fetchSite = headers["sec-fetch-site"];
  return {
    body: Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0),
    origin: headers.origin,
    fromBrowser: headers.origin !== undefined || fetchSite !== undefined,
    userAgent: headers["user-agent"],
    acceptLanguage: headers["accept-language"],
    idempotencyKey: single(headers["idempotency-key"]),
    submitterIp: single(headers["x-submitter-ip"]),
    submitterUserAgent: single(headers["x-submitter-user-agent"]),
  };
}

/** Node joins a repeated header of these names into one value; an array never comes, but its type allows it. */
function single(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(", ") : value;
}
