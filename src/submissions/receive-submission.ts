import { isOriginAllowed } from "../endpoints/allowed-origin.ts";
import type { StoreAddress } from "../endpoints/endpoint.ts";
import type { Clock } from "../foundation/clock.ts";
import { monthOf, nextMonthStart } from "../foundation/clock.ts";
import { FormsvcError } from "../foundation/errors.ts";
import { newId } from "../foundation/id.ts";
import { canonicalAddress, shortenAddress } from "../foundation/ip-address.ts";
import { judge, type SpamVerdict } from "../spam/judge.ts";
import { noHistory } from "../spam/spam-history.ts";
import type { SpamSettings } from "../spam/spam-settings.ts";
import type { UsageCounter } from "../workspaces/usage-counter.ts";
import type { Caller, Gatekeeper } from "./authenticate.ts";
import type { CommitQueue } from "./commit-batch.ts";
import { type ControlMembers, splitControlMembers } from "./control-members.ts";
import { type IdempotencyMemory, type IdempotentPost, readIdempotencyKey } from "./idempotency.ts";
import { parseBody } from "./parse-body.ts";
import type { RateState } from "./rate-limit.ts";
import { MAX_USER_AGENT_LENGTH, type Submission } from "./submission.ts";

/** A form post as it came over the wire, beyond its key. Header values are undefined where the header is missing. */
export interface IncomingPost {
  readonly body: Uint8Array;
  readonly origin: string | undefined;
  /** Whether a browser sent it: it carries `Origin` or `Sec-Fetch-Site`. */
  readonly fromBrowser: boolean;
  readonly userAgent: string | undefined;
  readonly acceptLanguage: string | undefined;
  readonly idempotencyKey: string | undefined;
  /** `X-Submitter-IP` and `X-Submitter-User-Agent`: believed from a secret key, ignored from a publishable one. */
  readonly submitterIp: string | undefined;
  readonly submitterUserAgent: string | undefined;
}

export interface Receipt {
  readonly submissionId: string;
  /** Where the sender stands in its limit; null where none applied. */
  readonly rate: RateState | null;
}

export interface Receiver {
  /**
   * The steps of a post after its key was found genuine, each cheaper than the next. Resolves once the submission is
   * durable on disk.
   *
   * @throws rate_limited, forbidden, invalid_request, conflict, submission_limit, invalid_json, validation_failed,
   *   spam_blocked, unavailable; nothing is stored then. unauthorized when the endpoint is deleted meanwhile.
   */
  receive(caller: Caller, post: IncomingPost): Promise<Receipt>;
}

export interface ReceiverParts {
  readonly gatekeeper: Gatekeeper;
  readonly usage: UsageCounter;
  readonly idempotency: IdempotencyMemory;
  readonly commits: CommitQueue;
  readonly spamSettings: SpamSettings;
  /** Told when a browser sent a secret key. */
  readonly onSecretInBrowser: (caller: Caller) => void;
  readonly clock: Clock;
}

export function createReceiver(parts: ReceiverParts): Receiver {
  const { gatekeeper, idempotency, clock } = parts;
  const inFlight = new Set<string>();
  return {
    async receive(caller, post) {
      const rate = gatekeeper.admit(caller);
      checkMayPost(caller, post, parts.onSecretInBrowser);
      const idempotent = readIdempotencyKey(post.idempotencyKey, caller.ready.endpoint.id, post.body);
      if (idempotent === null) return { submissionId: await store(parts, caller, post, null), rate };

      const earlier = idempotency.recall(idempotent, clock.now());
      if (earlier !== null) return { submissionId: earlier, rate };
      const unit = `${idempotent.endpointId} ${idempotent.keyHash.toString("base64")}`;
      if (inFlight.has(unit)) {
        throw new FormsvcError(
          "conflict",
          "A post with this Idempotency-Key is still being stored; try again shortly.",
          {
            retryAfterSeconds: 1,
          },
        );
      }
      inFlight.add(unit);
      try {
        return { submissionId: await store(parts, caller, post, idempotent), rate };
      } finally {
        inFlight.delete(unit);
      }
    },
  };
}

/** The steps from the monthly limit to the commit. */
async function store(
  parts: ReceiverParts,
  caller: Caller,
  post: IncomingPost,
  idempotent: IdempotentPost | null,
): Promise<string> {
  const { endpoint, limits, schema, honeypots } = caller.ready;
  const now = parts.clock.now();
  const month = monthOf(now);
  const monthlyLimit = limits.monthlySubmissions;
  if (monthlyLimit !== null && parts.usage.estimate(endpoint.workspaceId, month) >= monthlyLimit) {
    throw overLimit(monthlyLimit, now);
  }
  const members = splitControlMembers(parseBody(post.body), honeypots, schema.definition);
  const submitter = readSubmitter(caller, post);
  // A robot that fell into a honeypot is not told what the schema wants.
  if (members.filledHoneypots.length > 0)
    judgePost(parts.spamSettings, caller, post, members, members.fields);
  const checked = schema.validate(members.fields);
  if (!checked.ok)
    throw new FormsvcError("validation_failed", validationMessage(checked.details), {
      details: checked.details,
    });
  const verdict = judgePost(parts.spamSettings, caller, post, members, checked.data);

  const submission: Submission = {
    id: newId("sub", now),
    endpointId: endpoint.id,
    schemaVersion: endpoint.schemaVersion,
    data: checked.data,
    spamScore: verdict.score,
    spamClass: verdict.spamClass,
    spamReasons: verdict.reasons,
    ...submitter,
    createdAt: now,
  };
  const outcome = await parts.commits.add({
    submission,
    workspaceId: endpoint.workspaceId,
    monthlyLimit,
    idempotent,
  });
  if (outcome === "over_limit") throw overLimit(monthlyLimit ?? 0, now);
  if (outcome === "gone") throw new FormsvcError("unauthorized");
  return submission.id;
}

function checkMayPost(caller: Caller, post: IncomingPost, onSecretInBrowser: (caller: Caller) => void): void {
  const { endpoint } = caller.ready;
  if (caller.key.kind === "secret") {
    if (post.fromBrowser) {
      onSecretInBrowser(caller);
      throw new FormsvcError(
        "forbidden",
        "A secret key was sent by a browser; use the publishable key there, and rotate this one.",
      );
    }
  } else if (endpoint.settings.allowedOrigins.length > 0) {
    if (post.origin === undefined) {
      throw new FormsvcError(
        "forbidden",
        "This endpoint takes posts with its publishable key from its own pages only, and there is no Origin header.",
      );
    }
    if (!isOriginAllowed(post.origin, endpoint.settings.allowedOrigins)) {
      throw new FormsvcError("forbidden", "This page's origin is not among the endpoint's allowed origins.");
    }
  }
  if (endpoint.state === "paused") throw new FormsvcError("forbidden", "This endpoint is paused.");
}

/** Who filled in the form: the client itself, or whom a backend with the secret key says. */
function readSubmitter(caller: Caller, post: IncomingPost): { ipAddress: string; userAgent: string } {
  const trusted = caller.key.kind === "secret";
  const passedIp = trusted ? (post.submitterIp?.trim() ?? "") : "";
  const ipAddress = passedIp === "" ? caller.address : canonicalAddress(passedIp);
  if (ipAddress === null) {
    throw new FormsvcError("invalid_request", "The X-Submitter-IP header is not an IP address.", {
      details: { "X-Submitter-IP": "expected an IPv4 or IPv6 address" },
    });
  }
  const userAgent = (trusted ? post.submitterUserAgent : undefined) ?? post.userAgent ?? "";
  const stored = storedAddress(ipAddress, caller.ready.endpoint.settings.storeAddress);
  return { ipAddress: stored, userAgent: userAgent.slice(0, MAX_USER_AGENT_LENGTH) };
}

function storedAddress(address: string, how: StoreAddress): string {
  if (how === "full") return address;
  return how === "short" ? shortenAddress(address) : "";
}

/** @throws spam_blocked */
function judgePost(
  settings: SpamSettings,
  caller: Caller,
  post: IncomingPost,
  members: ControlMembers,
  fields: Readonly<Record<string, unknown>>,
): SpamVerdict {
  const { userAgent = null, acceptLanguage = null } = post;
  const client =
    caller.key.kind === "secret" ? null : { ipAddress: caller.address, userAgent, acceptLanguage };
  const honeypots = members.filledHoneypots;
  const verdict = judge({ fields, honeypots, elapsedMs: members.elapsedMs, client }, settings, noHistory);
  if (verdict.spamClass === "blocked") throw new FormsvcError("spam_blocked");
  return verdict;
}

function validationMessage(details: Readonly<Record<string, unknown>>): string {
  const names = Object.keys(details);
  const shown = names
    .slice(0, 10)
    .map((name) => JSON.stringify(name.slice(0, 100)))
    .join(", ");
  const more = names.length > 10 ? ` and ${names.length - 10} more` : "";
  return `The data does not match the endpoint's schema; see details for: ${shown}${more}.`;
}

function overLimit(limit: number, now: number): FormsvcError {
  return new FormsvcError(
    "submission_limit",
    `The monthly limit of ${limit} submissions is reached; upgrade the plan to accept more, or wait for the next month.`,
    {
      members: { limit, remainingSubmissions: 0 },
      retryAfterSeconds: Math.max(1, Math.ceil((nextMonthStart(now) - now) / 1000)),
    },
  );
}
