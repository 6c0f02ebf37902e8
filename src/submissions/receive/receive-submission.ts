import { isOriginAllowed } from "../../endpoints/allowed-origin.ts";
import { type Clock, monthOf } from "../../foundation/clock.ts";
import { FormsvcError } from "../../foundation/errors.ts";
import { newId } from "../../foundation/id.ts";
import type { SchemaDefinition } from "../../schemas/definition.ts";
import { scoreSpam, FILTER_VERSION } from "../../spam/score-spam.ts";
import { readBody, type SpamPost } from "../../spam/spam-post.ts";
import type { SpamVerdict } from "../../spam/spam-verdict.ts";
import type { UsageCounter } from "../../workspaces/usage-counter.ts";
import { type Caller, type Gatekeeper, refuseSecretInBrowser } from "./authenticate.ts";
import type { CommitOutcome, PendingSubmission } from "../commit/batch.ts";
import type { CommitQueue } from "../commit/commit-batch.ts";
import { type Examined, hold, type HoldParts } from "./hold-post.ts";
import { acceptedFiles, type IncomingFile, withoutFiles } from "./incoming-file.ts";
import { addWithFiles, storeFiles, uploadingOf } from "./store-files.ts";
import type { TakenFiles } from "../../files/file-room.ts";
import type { Challenges } from "./check-challenge.ts";
import {
  type IdempotencyMemory,
  type IdempotentPost,
  otherBody,
  readIdempotencyKey,
} from "../commit/idempotency.ts";
import type { OriginRefusals } from "./origin-refusals.ts";
import type { JsonObject } from "./parse-body.ts";
import { foreignOrigin, invalidData, MovedMeanwhile, overLimit } from "./post-errors.ts";
import type { RateState } from "../../foundation/rate-limit.ts";
import { andThen, type MaybeLater } from "../../foundation/maybe-later.ts";
import type { Recollection } from "../../history/remember-texts.ts";
import { readClientForFilter, readSubmitter, storedAddress } from "./read-submitter.ts";
import type { SpentProof } from "../commit/spent-proofs.ts";
import type { Submission } from "../stored/submission.ts";
import { visitorLanguage } from "./visitor-language.ts";

/** A form post as it arrived, without its key. The value of a header is undefined if the header is missing. */
export interface IncomingPost {
  /** The content that an `Idempotency-Key` stands for. */
  readonly body: Uint8Array;
  /** Reads the fields from the body, when they are needed. @throws invalid_json, invalid_request, unsupported_media_type */
  readonly readFields: (body: Uint8Array, definition: SchemaDefinition) => JsonObject;
  /** The files of the post; undefined if its type of body cannot have files. */
  readonly files?: readonly IncomingFile[] | undefined;
  readonly origin: string | undefined;
  /** Whether a browser sent the post, because it has the header `Origin` or `Sec-Fetch-Site`. */
  readonly fromBrowser: boolean;
  readonly userAgent: string | undefined;
  readonly acceptLanguage: string | undefined;
  /** Whether another post has spent the same proof of work. */
  readonly isProofSpent?: boolean;
  readonly idempotencyKey: string | undefined;
  /** Whether the post gets the result of the same post if that is still being stored; else it is refused. */
  readonly waitsForTwin?: boolean;
  /** `X-Submitter-IP` and `X-Submitter-User-Agent`: believed from a secret key, ignored from a publishable one. */
  readonly submitterIp: string | undefined;
  readonly submitterUserAgent: string | undefined;
}

/** The origin of a post, and whether a browser sent it, by its headers. */
export type PostSource = Pick<IncomingPost, "origin" | "fromBrowser">;

export interface Intake {
  /** Called when a client has just connected and may post, so that a commit may wait for it. */
  expectPost(): void;
  /**
   * The steps after the check of the key that need no body: counts the post against its sender's limit and checks the endpoint's
   * state and origins.
   *
   * @param source null if only the body has the origin; `receive` decides then.
   * @returns the sender's use of its limit; null if none applies. @throws rate_limited, forbidden
   */
  admit(caller: Caller, source: PostSource | null): RateState | null;
  /**
   * The steps that need the body, each cheaper than the next. Resolves to the submission's id once it is durable on disk.
   *
   * @throws forbidden, invalid_request, conflict, submission_limit, upload_limit, storage_limit, invalid_json, unsupported_media_type,
   *   validation_failed, spam_blocked, unavailable; no submission is stored then, and a post over the limit or taken for
   *   spam is held. unauthorized if the endpoint is deleted meanwhile.
   */
  receive(caller: Caller, post: IncomingPost): Promise<string>;
}

export interface IntakeParts extends HoldParts {
  readonly gatekeeper: Gatekeeper;
  readonly usage: Pick<UsageCounter, "estimate">;
  readonly idempotency: IdempotencyMemory;
  readonly commits: CommitQueue;
  /** Returns what the workspace remembers of posts like this one. */
  readonly recall: (
    workspaceId: string,
    endpointId: string,
    post: SpamPost,
    now: number,
  ) => MaybeLater<Recollection>;
  /** Called when a browser sent a secret key. */
  readonly onSecretInBrowser: (caller: Caller) => void;
  readonly refusals: OriginRefusals;
  readonly challenges: Pick<Challenges, "check">;
  readonly clock: Clock;
}

export function createIntake(parts: IntakeParts): Intake {
  const { gatekeeper, idempotency, clock } = parts;
  const inFlight = new Map<string, Promise<string>>();
  const receiveFor = async (caller: Caller, post: IncomingPost): Promise<string> => {
    const foreign = checkMayPost(caller, post, parts.onSecretInBrowser);
    if (foreign !== null) return await refuseForeign(parts, caller, post, foreign);
    const idempotent = readIdempotencyKey(post.idempotencyKey, caller.key, post.body);
    if (idempotent === null) return await store(parts, caller, post, null);

    const earlier = await idempotency.recall(idempotent, clock.now());
    if (earlier !== null) return earlier;
    const unit = `${idempotent.endpointId} ${idempotent.kind} ${idempotent.keyHash.toString("base64")}`;
    const twin = inFlight.get(unit);
    if (twin !== undefined && post.waitsForTwin === true) return await twin;
    if (twin !== undefined) {
      const message = "A post with this Idempotency-Key is still being stored; try again shortly.";
      throw new FormsvcError("conflict", message, { retryAfterSeconds: 1 });
    }
    const stored = store(parts, caller, post, idempotent);
    inFlight.set(unit, stored);
    try {
      return await stored;
    } finally {
      inFlight.delete(unit);
    }
  };
  return {
    expectPost: () => parts.commits.expectMore(),

    admit(caller, source) {
      const rate = gatekeeper.admit(caller);
      const foreign = source === null ? null : checkMayPost(caller, source, parts.onSecretInBrowser);
      if (foreign !== null && !parts.refusals.mayHold(caller, foreign)) {
        parts.refusals.note(caller, foreign);
        throw foreignOrigin();
      }
      return rate;
    },

    async receive(caller, post) {
      try {
        return await receiveFor(caller, post);
      } catch (error) {
        if (!(error instanceof MovedMeanwhile)) throw error;
      }
      // The form moved: uses the plan, the spam settings and the memory of its new workspace.
      return await receiveFor(await gatekeeper.reread(caller), post);
    },
  };
}

/** Runs the steps from the monthly limit to the commit. */
async function store(
  parts: IntakeParts,
  caller: Caller,
  post: IncomingPost,
  idempotent: IdempotentPost | null,
): Promise<string> {
  const { endpoint, limits } = caller.ready;
  const now = parts.clock.now();
  const monthlyLimit = limits.monthlySubmissions;
  const files = { incoming: post.files, taken: null };
  const { usage } = parts;
  if (monthlyLimit !== null && (await usage.estimate(endpoint.workspaceId, monthOf(now))) >= monthlyLimit) {
    const examined = await examineQuietly(parts, caller, post, now);
    const isHeld =
      examined !== null && (await hold(parts, caller, examined, { idempotent, cause: "limit", files }));
    throw overLimit(monthlyLimit, now, isHeld);
  }
  const examined = await examine(parts, caller, post, now);
  if (examined.submission.spamClass === "blocked") {
    await hold(parts, caller, examined, { idempotent, cause: "spam", files });
    throw new FormsvcError("spam_blocked");
  }
  const taken =
    post.files === undefined
      ? null
      : await storeFiles(parts, acceptedFiles(post.files, caller.ready.schema), {
          uploading: uploadingOf(caller, examined.address),
          createdAt: now,
        });
  const pending = pendingOf(caller, examined, idempotent, taken);
  const outcome = await (taken === null ? parts.commits.add(pending) : addWithFiles(parts, pending, taken));
  if (outcome === "stored") return examined.submission.id;
  if (outcome === "over_limit") {
    const cause = { idempotent, cause: "limit", files: { ...files, taken } } as const;
    const isHeld = await hold(parts, caller, examined, cause);
    throw overLimit(monthlyLimit ?? 0, now, isHeld);
  }
  if (outcome === "spent") return await store(parts, caller, { ...post, isProofSpent: true }, idempotent);
  return answerUnstored(outcome);
}

function pendingOf(
  { ready }: Caller,
  { submission, address, trapped, language, recollection, proof }: Examined,
  idempotent: IdempotentPost | null,
  taken: TakenFiles | null,
): PendingSubmission {
  return {
    kind: "submission",
    submission,
    address,
    trapped,
    language,
    fields: ready.schema.definition,
    workspaceId: ready.endpoint.workspaceId,
    monthlyLimit: ready.limits.monthlySubmissions,
    idempotent,
    recollection,
    fileIds: taken === null ? null : taken.files.map(({ id }) => id),
    proof,
  };
}

/** Returns the id of the first post, if this one repeats it. @throws unavailable, unauthorized, conflict, MovedMeanwhile */
function answerUnstored(outcome: Exclude<CommitOutcome, "stored" | "over_limit" | "spent">): string {
  switch (outcome) {
    case "incomplete": {
      const message = "The files took too long to be stored.";
      throw new FormsvcError("unavailable", message, { retryAfterSeconds: 5 });
    }
    case "gone":
      throw new FormsvcError("unauthorized");
    case "moved":
      throw new MovedMeanwhile();
    default:
      if (outcome.firstId === null) throw otherBody();
      return outcome.firstId;
  }
}

/** Refuses the post of a page whose origin is not allowed, after holding it if possible. @throws forbidden */
async function refuseForeign(
  parts: IntakeParts,
  caller: Caller,
  post: IncomingPost,
  origin: string,
): Promise<never> {
  const { refusals, clock } = parts;
  if (refusals.takeSlot(caller, origin)) {
    const examined = await examineQuietly(parts, caller, post, clock.now());
    // A robot's post tells nothing about the pages of the owner, so it is not counted.
    if (examined?.trapped === true) throw foreignOrigin();
    if (examined !== null) await holdForeign(parts, caller, examined, { post, origin });
  }
  refusals.note(caller, origin);
  throw foreignOrigin();
}

/** Hides errors, so that the sender gets the same answer whether the post is held or not. */
async function holdForeign(
  parts: IntakeParts,
  caller: Caller,
  examined: Examined,
  { post, origin }: { readonly post: IncomingPost; readonly origin: string },
): Promise<void> {
  try {
    const idempotent = readIdempotencyKey(post.idempotencyKey, caller.key, post.body);
    const files = { incoming: post.files, taken: null };
    await hold(parts, caller, examined, { idempotent, cause: "origin", origin, files });
  } catch (error) {
    if (!(error instanceof FormsvcError) || error instanceof MovedMeanwhile) throw error;
  }
}

/**
 * Returns at once, unless the spam memory has to read the database.
 *
 * @throws invalid_json, invalid_request, validation_failed, challenge_required; spam_blocked if data with a filled honeypot do not match.
 */
function examine(parts: IntakeParts, caller: Caller, post: IncomingPost, now: number): MaybeLater<Examined> {
  const { endpoint, schema, honeypots } = caller.ready;
  const { definition } = schema;
  const body = post.readFields(post.body, definition);
  const raw = readBody(body, honeypots, definition, readClientForFilter(caller, post));
  const submitter = readSubmitter(caller, post);
  const trapped = raw.honeypots.length > 0;
  const { language: ofEndpoint } = endpoint.settings;
  const language = visitorLanguage({ body, ofEndpoint, acceptLanguage: post.acceptLanguage });
  const checked = schema.validate(raw.fields);
  if (!checked.ok) return refuse(parts, caller, { raw, details: checked.details }, now);
  const examined = ({ verdict, recollection }: Scored, proof: SpentProof | null = null): Examined => {
    const submission: Submission = {
      id: newId("sub", now),
      endpointId: endpoint.id,
      schemaVersion: endpoint.schemaVersion,
      data: checked.data,
      setAside: checked.setAside,
      spamScore: verdict.score,
      spamClass: verdict.spamClass,
      spamReasons: verdict.reasons,
      spamVersion: FILTER_VERSION,
      ipAddress: storedAddress(submitter.address, endpoint.settings.storeAddress),
      userAgent: submitter.userAgent,
      createdAt: now,
    };
    return { submission, trapped, language, address: submitter.address, recollection, proof };
  };
  const fields = schema.fileFields === null ? checked.data : withoutFiles(checked.data, schema.fileFields);
  const read = { ...raw, fields };
  // A post with a secret key needs no challenge, because no page has that key.
  if (endpoint.settings.challenge.kind === "off" || caller.key.kind === "secret")
    return andThen(scoreWithMemory(parts, caller, read, now), (scored) => examined(scored));
  return parts.challenges
    .check(caller, body, post.isProofSpent === true)
    .then(({ failed, proof }) =>
      andThen(scoreWithMemory(parts, caller, { ...read, challenge: failed }, now), (scored) =>
        examined(scored, proof),
      ),
    );
}

/** Refuses data that do not match the schema. A robot that filled a honeypot learns nothing about the schema. */
async function refuse(
  parts: IntakeParts,
  caller: Caller,
  { raw, details }: { readonly raw: SpamPost; readonly details: Readonly<Record<string, unknown>> },
  now: number,
): Promise<never> {
  const isTrapped = raw.honeypots.length > 0;
  if (isTrapped && isBlocked((await scoreWithMemory(parts, caller, raw, now)).verdict))
    throw new FormsvcError("spam_blocked");
  throw invalidData(details);
}

function isBlocked(verdict: SpamVerdict): boolean {
  return verdict.spamClass === "blocked";
}

/** Returns null if the post would be refused anyway; the caller then reports only its own reason, like the monthly limit. */
async function examineQuietly(
  parts: IntakeParts,
  caller: Caller,
  post: IncomingPost,
  now: number,
): Promise<Examined | null> {
  try {
    return await examine(parts, caller, post, now);
  } catch (error) {
    if (error instanceof FormsvcError) return null;
    throw error;
  }
}

/** Returns the origin if the post is refused because of it; null if the post may go on. @throws forbidden for any other reason */
function checkMayPost(
  caller: Caller,
  { origin, fromBrowser }: PostSource,
  onSecretInBrowser: (caller: Caller) => void,
): string | null {
  const { endpoint } = caller.ready;
  refuseSecretInBrowser(caller, fromBrowser, onSecretInBrowser);
  if (caller.key.kind === "publishable" && endpoint.settings.allowedOrigins.length > 0) {
    if (origin === undefined) {
      throw new FormsvcError(
        "forbidden",
        "This endpoint takes posts with its publishable key from its own pages only, and there is no Origin header.",
      );
    }
    if (!isOriginAllowed(origin, endpoint.settings.allowedOrigins)) {
      if (endpoint.state === "paused") throw foreignOrigin();
      return origin;
    }
  }
  if (endpoint.state === "paused") throw new FormsvcError("forbidden", "This endpoint is paused.");
  return null;
}

interface Scored {
  readonly verdict: SpamVerdict;
  readonly recollection: Recollection;
}

/** Returns at once, unless the spam memory has to read the database. */
function scoreWithMemory(
  parts: IntakeParts,
  { ready }: Caller,
  post: SpamPost,
  now: number,
): MaybeLater<Scored> {
  const scored = (recollection: Recollection): Scored => ({
    verdict: scoreSpam(post, ready.spam, recollection.history),
    recollection,
  });
  return andThen(parts.recall(ready.endpoint.workspaceId, ready.endpoint.id, post, now), scored);
}
