import type { FastifyReply, FastifyRequest } from "fastify";
import type { Caller, Gatekeeper } from "../submissions/receive/authenticate.ts";
import { FormsvcError } from "../foundation/errors.ts";
import { canonicalAddress } from "../foundation/ip-address.ts";
import type { RateState } from "../foundation/rate-limit.ts";
import type { IncomingPost, Intake, PostSource } from "../submissions/receive/receive-submission.ts";
import { uploadingOf } from "../submissions/receive/store-files.ts";
import type { Reservation } from "../files/spool-room.ts";
import type { Uploads } from "../files/uploads.ts";
import { allowEndpointOrigin } from "./cors.ts";
import { bodyTooLarge } from "./error-reply.ts";
import { type NotReadyReason, refusalOf } from "./health-routes.ts";
import { MAX_READ_ON, postTooLarge } from "./upload-body.ts";

/** What is needed to identify the sender. */
export interface CallerParts {
  readonly gatekeeper: Gatekeeper;
  readonly noticeChanges: () => void;
  /** Why no key can be checked now; null if it can. */
  readonly blindness: () => NotReadyReason | null;
}

export interface PostParts extends CallerParts {
  readonly intake: Intake;
  readonly uploads: Uploads;
  readonly bodyLimitBytes: number;
}

/** A post whose headers are accepted. */
export interface BegunPost {
  readonly caller: Caller;
  /** The sender's use of its rate limit; null if no limit applied. */
  rate: RateState | null;
  /** Why a file of it is refused, if its body is read all the same: it may have none, or a page shows what was typed. */
  refusal: FormsvcError | null;
  /** Room that is kept for its files. */
  reservation: Reservation | null;
}

/** What tells the sender of a post, before its body. */
export interface PostSender {
  /** The `Authorization` header, or its substitute. */
  readonly authorization: string | undefined;
  /** Null if only the body has the origin. */
  readonly source: PostSource | null;
  /** Whether the form may bring files: it does if its endpoint has a field for them. */
  readonly isMultipart: boolean;
  /** Whether a page answers: then a form whose files are refused is read on, so that the page can show what was typed. */
  readonly wantsPage: boolean;
  /** Finds the sender of a page of ours, which has no key. */
  readonly find?: () => Promise<Caller>;
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

/** Continues a request after a hook. */
type Proceed = (error?: Error) => void;

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
  lookAround(parts);
  return parts.gatekeeper.authenticate(authorization, request.clientAddress);
}

/** Before a key is looked at. @throws unavailable */
export function lookAround({ noticeChanges, blindness }: CallerParts): void {
  noticeChanges();
  const blind = blindness();
  if (blind !== null) throw refusalOf(blind);
}

/**
 * Refuses a post if its headers are enough for that, before any of its body is read: a client without a good key costs no memory
 * and holds no place. The result is kept on the request.
 *
 * @param proceed called at once if the key is remembered: a promise here would put the body into a buffer first.
 * @throws payload_too_large, unsupported_media_type, unavailable, rate_limited, forbidden; or hands `proceed` what {@link identify} throws.
 */
export function beginPost(parts: PostParts, exchange: Exchange, sender: PostSender, proceed: Proceed): void {
  const { request } = exchange;
  const length = Number(request.headers["content-length"]);
  if (length > parts.bodyLimitBytes) refuseLength(parts, exchange, sender, length);
  checkEncoding(request.headers["content-encoding"]);
  lookAround(parts);
  const { find, authorization } = sender;
  const known = find === undefined ? parts.gatekeeper.recall(authorization, request.clientAddress) : null;
  if (known === null) {
    (find === undefined ? identify(parts, request, authorization) : find())
      .then((caller) => admitPost(parts, exchange, caller, sender.source))
      .then(() => (sender.isMultipart ? admitUpload(parts, exchange, sender, length) : undefined))
      .then(() => proceed(), proceed);
  } else {
    admitPost(parts, exchange, known, sender.source);
    if (sender.isMultipart) admitUpload(parts, exchange, sender, length).then(() => proceed(), proceed);
    else proceed();
  }
}

/** Before anything is known of the endpoint, the largest post of any kind counts. @throws payload_too_large */
function refuseLength(
  { bodyLimitBytes, uploads }: PostParts,
  { reply }: Exchange,
  { isMultipart, wantsPage }: PostSender,
  length: number,
): void {
  const { maxPostBytes } = uploads.limits;
  if (isMultipart && length <= (wantsPage ? MAX_READ_ON * maxPostBytes : maxPostBytes)) return;
  // Nobody reads the rest.
  reply.header("connection", "close");
  throw isMultipart ? postTooLarge(maxPostBytes) : bodyTooLarge(bodyLimitBytes);
}

/** Whether the body of this post is read as files come. */
export function bringsFiles({ begun }: FastifyRequest): boolean {
  return begun !== null && begun.caller.ready.schema.fileFields !== null;
}

/**
 * Looks for room before a byte of the files is read. A form without a field for files is as long as any other. In a form of that length
 * perhaps nobody chose a file, so only the first byte of a file refuses it.
 *
 * @param length NaN if the client does not say. @throws payload_too_large, upload_limit, storage_limit, unavailable
 */
async function admitUpload(
  parts: PostParts,
  { request, reply }: Exchange,
  { wantsPage }: PostSender,
  length: number,
): Promise<void> {
  const { begun, flight } = request;
  if (begun === null || !bringsFiles(request)) {
    if (!(length > parts.bodyLimitBytes)) return;
    reply.header("connection", "close");
    throw bodyTooLarge(parts.bodyLimitBytes);
  }
  try {
    begun.reservation = await findRoom(parts, request, begun.caller, length);
  } catch (error) {
    const mayLackFiles = !(length > Math.min(parts.bodyLimitBytes, parts.uploads.limits.maxPostBytes));
    if (!(wantsPage || mayLackFiles) || !(error instanceof FormsvcError)) {
      reply.header("connection", "close");
      if (error instanceof FormsvcError) await noteRefusal(parts, request, error);
      throw error;
    }
    begun.refusal = error;
  }
  if (flight !== null) flight.isUpload = true;
}

/** Notes why files of a post are refused, once that is certain. */
export async function noteRefusal(
  { uploads }: Pick<PostParts, "uploads">,
  request: FastifyRequest,
  reason: FormsvcError,
): Promise<void> {
  const caller = request.begun?.caller;
  if (caller !== undefined)
    await uploads.noteRefusal(uploadingOf(caller, submitterOf(caller, request)), reason);
}

/** @throws payload_too_large, upload_limit, storage_limit, unavailable */
async function findRoom(
  { uploads, bodyLimitBytes }: PostParts,
  request: FastifyRequest,
  caller: Caller,
  length: number,
): Promise<Reservation | null> {
  const { maxPostBytes } = uploads.limits;
  if (length > maxPostBytes) throw postTooLarge(maxPostBytes);
  if (request.flight === null) return null;
  // All but the texts are files.
  const bytes = Math.max(1, (Number.isNaN(length) ? 0 : length) - bodyLimitBytes);
  const uploading = uploadingOf(caller, submitterOf(caller, request));
  return await uploads.admit(uploading, request.flight.holder, bytes);
}

/** Null if the header is no address, which is refused later. */
function submitterOf(caller: Caller, { headers }: FastifyRequest): string | null {
  const named = caller.key.kind === "secret" ? (single(headers["x-submitter-ip"])?.trim() ?? "") : "";
  return named === "" ? caller.address : canonicalAddress(named);
}

/** A compressed body would have no bound. @throws unsupported_media_type */
function checkEncoding(header: string | undefined): void {
  if (header === undefined || header.toLowerCase() === "identity") return;
  throw new FormsvcError("unsupported_media_type", "Send the body as it is, without Content-Encoding.");
}

function admitPost(
  parts: PostParts,
  { request, reply }: Exchange,
  caller: Caller,
  source: PostSource | null,
): void {
  const begun: BegunPost = { caller, rate: null, refusal: null, reservation: null };
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
  lookAround(parts);
  // The key may have been revoked while the body arrived.
  const caller = await parts.gatekeeper.renew(begun.caller);
  const submissionId = await parts.intake.receive(caller, incomingPost(request, content));
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

/** The body, and the source if this kind of post knows it better than the headers. */
export interface PostContent extends Pick<IncomingPost, "body" | "readFields" | "files"> {
  readonly source?: PostSource;
}

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

function incomingPost(request: FastifyRequest, content: PostContent): IncomingPost {
  const { headers } = request;
  const { origin, fromBrowser } = content.source ?? sourceOf(request);
  return {
    body: content.body,
    readFields: content.readFields,
    files: content.files,
    origin,
    fromBrowser,
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
