import type { FastifyReply, FastifyRequest } from "fastify";
import type { NetworkList } from "../foundation/ip-address.ts";
import type { Caller, Gatekeeper } from "../submissions/authenticate.ts";
import type { IncomingPost, Receipt, Receiver } from "../submissions/receive-submission.ts";
import { clientAddress } from "./client-address.ts";
import { allowEndpointOrigin } from "./cors.ts";
import { upgradedMeanwhile } from "./health-routes.ts";

/** What it takes to know who calls. */
export interface CallerParts {
  readonly gatekeeper: Gatekeeper;
  readonly noticeChanges: () => void;
  readonly isUpgraded: () => boolean;
  readonly trustedProxies: NetworkList;
}

export interface PostParts extends CallerParts {
  readonly receiver: Receiver;
}

/**
 * Who sends the request, by its key.
 *
 * @param authorization the header's value, or what stands for it. @throws unauthorized, rate_limited, unavailable
 */
export function identify(
  parts: CallerParts,
  request: FastifyRequest,
  authorization: string | undefined = request.headers.authorization,
): Promise<Caller> {
  parts.noticeChanges();
  if (parts.isUpgraded()) throw upgradedMeanwhile();
  const address = clientAddress(request.raw, parts.trustedProxies);
  return parts.gatekeeper.authenticate(authorization, address);
}

/** The one way of a post, whatever its body was written in: stores it, and puts what every answer carries on the reply. */
export async function takePost(
  parts: PostParts,
  { request, reply }: { readonly request: FastifyRequest; readonly reply: FastifyReply },
  caller: Caller,
  content: PostContent,
): Promise<Receipt> {
  allowEndpointOrigin(reply, caller.ready, request.headers.origin);
  const receipt = await parts.receiver.receive(caller, { ...readHeaders(request), ...content });
  if (receipt.rate !== null) {
    const { limit, remaining, resetSeconds } = receipt.rate;
    reply
      .header("ratelimit-limit", limit)
      .header("ratelimit-remaining", remaining)
      .header("ratelimit-reset", resetSeconds);
  }
  return receipt;
}

/** The body, and what its kind of post knows better than the headers. */
export type PostContent = Pick<IncomingPost, "body" | "readFields"> &
  Partial<Pick<IncomingPost, "origin" | "fromBrowser">>;

/** The JSON of an accepted post. */
export function acceptedBody(receipt: Receipt) {
  return { success: true, message: "Submission received", submission_id: receipt.submissionId };
}

/** Whether a browser sent it. Not `Sec-Fetch-Mode`, which Node's own `fetch` sends too. */
export function isFromBrowser({ headers }: FastifyRequest): boolean {
  return headers.origin !== undefined || headers["sec-fetch-site"] !== undefined;
}

function readHeaders(request: FastifyRequest): Omit<IncomingPost, "body" | "readFields"> {
  const { headers } = request;
  return {
    origin: headers.origin,
    fromBrowser: isFromBrowser(request),
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
