import type { FastifyReply, FastifyRequest } from "fastify";
import type { Caller, Gatekeeper } from "../submissions/authenticate.ts";
import type { RateState } from "../submissions/rate-limit.ts";
import type { IncomingPost, Intake, PostSource } from "../submissions/receive-submission.ts";
import { allowEndpointOrigin } from "./cors.ts";
import { bodyTooLarge } from "./error-reply.ts";
import { upgradedMeanwhile } from "./health-routes.ts";

/** What is needed to identify the sender. */
export interface CallerParts {
  readonly gatekeeper: Gatekeeper;
  readonly noticeChanges: () => void;
  readonly isUpgraded: () => boolean;
}

export interface PostParts extends CallerParts {
  readonly intake: Intake;
  readonly bodyLimitBytes: number;
}

/** A post whose headers are accepted. */
export interface BegunPost {
  /** The `Authorization` header, or its substitute. */
  readonly authorization: string | undefined;
  readonly caller: Caller;
  /** Whether the whole body had arrived when the key was checked. */
  readonly isWhole: boolean;
  /** The sender's use of its rate limit; null if no limit applied. */
  rate: RateState | null;
}

declare module "fastify" {
  interface FastifyRequest {
    begun: BegunPost | null;
  }
}

interface Exchange {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/**
 * Identifies the sender of a request by its key.
 *
 * @param authorization the header's value, or its substitute. @throws unauthorized, rate_limited, unavailable
 */
export function identify(
  parts: CallerParts,
  request: FastifyRequest,
  authorization: string | undefined = request.headers.authorization,
): Promise<Caller> {
  parts.noticeChanges();
  if (parts.isUpgraded()) throw upgradedMeanwhile();
  return parts.gatekeeper.authenticate(authorization, request.clientAddress);
}

/**
 * Refuses a post if its headers are enough for that, before any of its body is read: a client without a good key costs no memory
 * and holds no place. The result is kept on the request.
 *
 * @param source null if only the body has the origin. @throws payload_too_large, what {@link identify} does,
 *   rate_limited, forbidden
 */
export async function beginPost(
  parts: PostParts,
  { request, reply }: Exchange,
  authorization: string | undefined,
  source: PostSource | null,
): Promise<void> {
  if (Number(request.headers["content-length"]) > parts.bodyLimitBytes) {
    // Nobody reads the rest.
    reply.header("connection", "close");
    throw bodyTooLarge(parts.bodyLimitBytes);
  }
  const caller = await identify(parts, request, authorization);
  const begun: BegunPost = { authorization, caller, isWhole: request.raw.complete, rate: null };
  request.begun = begun;
  allowEndpointOrigin(reply, caller.ready, request.headers.origin);
  begun.rate = parts.intake.admit(caller, source);
}

/** The one way of a post, whatever the format of its body: stores it, and puts the common headers on the reply. */
export async function takePost(
  parts: PostParts,
  { request, reply }: Exchange,
  content: PostContent,
): Promise<Receipt> {
  const { begun } = request;
  if (begun === null) throw new Error("a post's route must begin it before its body is read");
  // The key may have been revoked while the body arrived.
  const caller = begun.isWhole ? begun.caller : await identify(parts, request, begun.authorization);
  const submissionId = await parts.intake.receive(caller, { ...readHeaders(request), ...content });
  if (begun.rate !== null) {
    const { limit, remaining, resetSeconds } = begun.rate;
    reply
      .header("ratelimit-limit", limit)
      .header("ratelimit-remaining", remaining)
      .header("ratelimit-reset", resetSeconds);
  }
  return { caller, submissionId };
}

export interface Receipt {
  readonly caller: Caller;
  readonly submissionId: string;
}

/** The body, and facts that this kind of post knows better than the headers. */
export type PostContent = Pick<IncomingPost, "body" | "readFields"> &
  Partial<Pick<IncomingPost, "origin" | "fromBrowser">>;

/** The JSON of an accepted post. */
export function acceptedBody({ submissionId }: Receipt) {
  return { success: true, message: "Submission received", submission_id: submissionId };
}

/** Whether a browser sent it. Not `Sec-Fetch-Mode`, which Node's own `fetch` sends too. */
export function isFromBrowser({ headers }: FastifyRequest): boolean {
  return headers.origin !== undefined || headers["sec-fetch-site"] !== undefined;
}

export function sourceOf(request: FastifyRequest): PostSource {
  return { origin: request.headers.origin, fromBrowser: isFromBrowser(request) };
}

function readHeaders(request: FastifyRequest): Omit<IncomingPost, "body" | "readFields"> {
  const { headers } = request;
  return {
    ...sourceOf(request),
    userAgent: headers["user-agent"],
    acceptLanguage: headers["accept-language"],
    idempotencyKey: single(headers["idempotency-key"]),
    submitterIp: single(headers["x-submitter-ip"]),
    submitterUserAgent: single(headers["x-submitter-user-agent"]),
  };
}

/** Node joins a repeated header of these names into one value; the type allows an array, but there is never one. */
function single(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(", ") : value;
}
