import { hash } from "node:crypto";
import type { FastifyReply, FastifyRequest } from "fastify";
import { BoundedMap } from "../foundation/bounded-map.ts";
import { dayStart } from "../foundation/clock.ts";
import { FormsvcError } from "../foundation/errors.ts";
import { addressUnit, compileNetworks, type NetworkList } from "../foundation/ip-address.ts";
import type { RateLimit, RateState } from "../foundation/rate-limit.ts";
import { socketAddress } from "../http/client-address.ts";
import { notReadyError } from "../http/health-routes.ts";
import type { TokenActor } from "../operations/actor.ts";
import { findLiveToken, noteUse } from "../tokens/token-store.ts";
import { readTokenText, type Token } from "../tokens/token.ts";
import type { ServedParts } from "./parts.ts";
import { countedAs } from "./token-owner.ts";

/**
 * Returns the actor of a request's token. The token is read again for each request, so that a change to it applies from the next request
 * on.
 */
export type Authenticate = (request: FastifyRequest, reply: FastifyReply) => Promise<TokenActor>;

/**
 * The largest number of tokens that this process remembers as genuine. They are accepted even from an address that has sent too many wrong
 * ones.
 */
const MAX_REMEMBERED = 1000;

const LOOPBACK = compileNetworks(["127.0.0.0/8", "::1"]);

/** What it takes to find the actor of a request's token. */
export type AuthenticationParts = Pick<ServedParts, "db" | "config" | "clock" | "blindness" | "limiter">;

export function createAuthentication(parts: AuthenticationParts): Authenticate {
  const { db, config, clock, blindness } = parts;
  const { rateLimit } = config;
  const trustedProxies = compileNetworks(config.server.trustProxy);
  const exempt = compileNetworks(rateLimit.exempt);
  const genuine = new BoundedMap<string, true>(MAX_REMEMBERED);
  const count = createCounter(parts, exempt);
  const countRequest = createRequestCounter(parts);

  return async (request, reply) => {
    refusePlainHttp(request, trustedProxies);
    const { authorization } = request.headers;
    const secret = readTokenText(/^bearer +(\S+) *$/i.exec(authorization ?? "")?.[1] ?? "");
    if (authorization === undefined) throw unauthorized();
    const wrong = `bad ${addressUnit(request.clientAddress)}`;
    const digest = secret === null ? "" : hash("sha256", secret.text);
    if (!genuine.has(digest)) count.look(wrong, rateLimit.badKey, request);
    const blind = blindness();
    if (blind !== null) throw notReadyError(blind);
    const now = clock.now();
    const found = secret === null ? undefined : await db.read(() => findLiveToken(secret, now));
    if (found === undefined) {
      genuine.delete(digest);
      count.note(wrong, rateLimit.badKey, request);
      throw unauthorized();
    }
    genuine.set(digest, true);
    const { actor, token } = found;
    countRequest(actor, request, reply);
    await noteDay(parts, token, now);
    return actor;
  };
}

/** Counts one request of an actor, and says in the answer how many are left. @throws rate_limited */
type CountRequest = (actor: TokenActor, request: FastifyRequest, reply: FastifyReply) => void;

export function createRequestCounter(parts: AuthenticationParts): CountRequest {
  const { rateLimit } = parts.config;
  const count = createCounter(parts, compileNetworks(rateLimit.exempt));
  return (actor, request, reply) => {
    const state = count.note(`token ${countedAs(actor)}`, rateLimit.token, request);
    if (state === null) return;
    reply.header("ratelimit-limit", state.limit);
    reply.header("ratelimit-remaining", state.remaining);
    reply.header("ratelimit-reset", state.resetSeconds);
    if (!state.allowed) throw tooMany(state);
  };
}

/** Counts requests, except from addresses that no limit applies to. */
function createCounter({ limiter }: AuthenticationParts, exempt: NetworkList) {
  const isExempt = ({ clientAddress }: FastifyRequest): boolean => exempt.contains(clientAddress);
  return {
    note(unit: string, limit: RateLimit, request: FastifyRequest): RateState | null {
      return isExempt(request) ? null : limiter.count(unit, limit);
    },
    /** @throws rate_limited */
    look(unit: string, limit: RateLimit, request: FastifyRequest): void {
      const state = isExempt(request) ? null : limiter.look(unit, limit);
      if (state !== null && !state.allowed) throw tooMany(state);
    },
  };
}

/**
 * Stores the day of the token's last use, at most once a day. If that fails, the request goes on, because the day is only information for
 * people.
 */
async function noteDay({ db }: AuthenticationParts, { id, lastUsedAt }: Token, now: number): Promise<void> {
  if (lastUsedAt !== null && lastUsedAt >= dayStart(now)) return;
  await db.relaxedTransaction(() => noteUse(id, now)).catch(() => undefined);
}

/** Refuses plain http, over which a token can be read on the way. @throws forbidden */
export function refusePlainHttp(request: FastifyRequest, trustedProxies: NetworkList): void {
  if (LOOPBACK.contains(request.clientAddress)) return;
  const proto = String(request.headers["x-forwarded-proto"] ?? "")
    .split(",")
    .at(-1);
  const isHttps = proto?.trim().toLowerCase() === "https";
  if (isHttps && trustedProxies.contains(socketAddress(request.raw.socket))) return;
  throw new FormsvcError(
    "forbidden",
    "the API needs https, because a token over plain http can be read on the way; put a reverse proxy with https in front of " +
      "formsvc, set server.trustProxy to the proxy’s address, and let it send X-Forwarded-Proto",
  );
}

function unauthorized(): FormsvcError {
  return new FormsvcError("unauthorized", "a valid token is required: Authorization: Bearer fat_…");
}

function tooMany({ resetSeconds }: RateState): FormsvcError {
  return new FormsvcError("rate_limited", `too many requests; try again in ${resetSeconds} seconds`, {
    retryAfterSeconds: resetSeconds,
  });
}
