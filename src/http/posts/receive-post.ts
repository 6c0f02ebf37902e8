import type { FastifyReply, FastifyRequest } from "fastify";
import type { Caller, Gatekeeper } from "../../submissions/receive/authenticate.ts";
import { FormsvcError } from "../../foundation/errors.ts";
import { canonicalAddress } from "../../foundation/ip-address.ts";
import type { RateState } from "../../foundation/rate-limit.ts";
import type { IncomingPost, Intake, PostSource } from "../../submissions/receive/receive-submission.ts";
import { uploadingOf } from "../../submissions/receive/store-files.ts";
import type { Reservation } from "../../files/spool-room.ts";
import type { Uploads } from "../../files/uploads.ts";
import { checkEncoding } from "./check-encoding.ts";
import { allowEndpointOrigin } from "../cors.ts";
import { bodyTooLarge } from "../error-reply.ts";
import { type NotReadyReason, notReadyError } from "../health-routes.ts";
import { onceKey } from "./once.ts";
import { MAX_READ_ON, postTooLarge } from "./upload-body.ts";

/** What it takes to identify the sender. */
export interface CallerParts {
  readonly gatekeeper: Gatekeeper;
  readonly noticeChanges: () => void;
  /** Why no key can be checked now; null if keys can be checked. */
  readonly blindness: () => NotReadyReason | null;
}

export interface PostParts extends CallerParts {
  readonly intake: Intake;
  readonly uploads: Uploads;
  readonly bodyLimitBytes: number;
}

/** A post whose headers are accepted. */
interface BegunPost {
  readonly caller: Caller;
  /** The state of the sender's rate limit; null if no limit applied. */
  rate: RateState | null;
  /**
   * Why files of the post are refused; null if they are not. The body is read all the same, because it may have no file, or a page shows
   * what was typed.
   */
  refusal: FormsvcError | null;
  /** The room in the spool that is reserved for the post's files. */
  reservation: Reservation | null;
}

/** What is known about the sender of a post before its body is read. */
export interface PostSender {
  /** The `Authorization` header, or the value that takes its place. */
  readonly authorization: string | undefined;
  /** Null if only the body says the origin. */
  readonly source: PostSource | null;
  /** Whether the body is multipart. It may bring files if the endpoint has a field for them. */
  readonly isMultipart: boolean;
  /** Whether the answer is a page. If so, a form whose files are refused is read to its end, so that the page can show what was typed. */
  readonly wantsPage: boolean;
  /** Finds the sender of one of our own pages, which sends no key. */
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
 * @param authorization the value of the header, or the value that takes its place
 * @throws unauthorized, rate_limited, unavailable
 */
export function identify(
  parts: CallerParts,
  request: FastifyRequest,
  authorization: string | undefined = request.headers.authorization,
): Promise<Caller> {
  lookAround(parts);
  return parts.gatekeeper.authenticate(authorization, request.clientAddress);
}

/** Called before a key is checked: notices changes in the database. @throws unavailable if no key can be checked */
export function lookAround({ noticeChanges, blindness }: CallerParts): void {
  noticeChanges();
  const blind = blindness();
  if (blind !== null) throw notReadyError(blind);
}

/**
 * Refuses a post if its headers are reason enough, before any of its body is read. So a client without a good key costs no memory and holds
 * no slot. The result is kept on the request.
 *
 * @param proceed called at once if the key is cached: after a promise, the framework would put the body into a buffer first.
 * @throws payload_too_large, unsupported_media_type, unavailable, rate_limited, forbidden; errors of {@link identify} are passed to
 * `proceed`
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

/** Refuses a body that is longer than the largest post of any kind. The endpoint is not known yet. @throws payload_too_large */
function refuseLength(
  { bodyLimitBytes, uploads }: PostParts,
  { reply }: Exchange,
  { isMultipart, wantsPage }: PostSender,
  length: number,
): void {
  const { maxPostBytes } = uploads.limits;
  if (isMultipart && length <= (wantsPage ? MAX_READ_ON * maxPostBytes : maxPostBytes)) return;
  // Nobody reads the rest of the body.
  reply.header("connection", "close");
  throw isMultipart ? postTooLarge(maxPostBytes) : bodyTooLarge(bodyLimitBytes);
}

/** Whether the body of this post is read as an upload: its endpoint has fields for files. */
export function bringsFiles({ begun }: FastifyRequest): boolean {
  return begun !== null && begun.caller.ready.schema.fileFields !== null;
}

/**
 * Reserves room before any file is read. Without a field for files, the post has the usual limit of a body. If there is no room and the
 * body is so short that it may have no file, the post is refused only when the first byte of a file comes.
 *
 * @param length the body's length in bytes; NaN if the client does not say
 * @throws payload_too_large, upload_limit, storage_limit, unavailable
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

/** Records why files of a post are refused, once the refusal is certain. */
export async function noteRefusal(
  { uploads }: Pick<PostParts, "uploads">,
  request: FastifyRequest,
  reason: FormsvcError,
): Promise<void> {
  const caller = request.begun?.caller;
  if (caller !== undefined)
    await uploads.noteRefusal(uploadingOf(caller, submitterOf(caller, request)), reason);
}

/** Reserves room for the files of a post. @throws payload_too_large, upload_limit, storage_limit, unavailable */
async function findRoom(
  { uploads, bodyLimitBytes }: PostParts,
  request: FastifyRequest,
  caller: Caller,
  length: number,
): Promise<Reservation | null> {
  const { maxPostBytes } = uploads.limits;
  if (length > maxPostBytes) throw postTooLarge(maxPostBytes);
  if (request.flight === null) return null;
  // The part of the body that exceeds the limit of texts must be files.
  const bytes = Math.max(1, (Number.isNaN(length) ? 0 : length) - bodyLimitBytes);
  const uploading = uploadingOf(caller, submitterOf(caller, request));
  return await uploads.admit(uploading, request.flight.holder, bytes);
}

/** The address of the person who posted. Null if the header is not an address; the post is refused later for that. */
function submitterOf(caller: Caller, { headers }: FastifyRequest): string | null {
  const named = caller.key.kind === "secret" ? (single(headers["x-submitter-ip"])?.trim() ?? "") : "";
  return named === "" ? caller.address : canonicalAddress(named);
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

/** Stores a post, whatever the format of its body, and puts the common headers on the reply. */
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

/** The content of a post, and its source if this kind of post knows it better than the headers. */
export interface PostContent extends Pick<IncomingPost, "body" | "readFields" | "files"> {
  readonly source?: PostSource;
  /** The page of ours that the form was sent from; undefined or absent if it was none. */
  readonly once?: string | undefined;
}

/** The JSON body that answers an accepted post. */
export function acceptedBody({ submissionId }: Receipt) {
  return { success: true, message: "Submission received", submission_id: submissionId };
}

/** Whether a browser sent the request. `Sec-Fetch-Mode` does not show it, because Node's own `fetch` sends that too. */
export function isFromBrowser({ headers }: FastifyRequest): boolean {
  return headers.origin !== undefined || headers["sec-fetch-site"] !== undefined;
}

export function sourceOf(request: FastifyRequest): PostSource {
  return { origin: request.headers.origin, fromBrowser: isFromBrowser(request) };
}

function incomingPost(request: FastifyRequest, content: PostContent): IncomingPost {
  const { headers } = request;
  const { origin, fromBrowser } = content.source ?? sourceOf(request);
  const { once } = content;
  return {
    body: content.body,
    readFields: content.readFields,
    files: content.files,
    origin,
    fromBrowser,
    userAgent: headers["user-agent"],
    acceptLanguage: headers["accept-language"],
    idempotencyKey: once === undefined ? single(headers["idempotency-key"]) : onceKey(once, content.body),
    waitsForTwin: once !== undefined,
    submitterIp: single(headers["x-submitter-ip"]),
    submitterUserAgent: single(headers["x-submitter-user-agent"]),
  };
}

/**
 * The value of a header. Node joins a repeated header of these names into one value, so there is never an array, although the type allows
 * one.
 */
function single(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(", ") : value;
}
