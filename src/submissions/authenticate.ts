import type { EndpointDirectory, ReadyEndpoint } from "../endpoints/endpoint-directory.ts";
import { FormsvcError } from "../foundation/errors.ts";
import { addressUnit, type NetworkList } from "../foundation/ip-address.ts";
import { parseKey } from "../keys/key-format.ts";
import type { Key } from "../keys/key-store.ts";
import type { KeyVerifier } from "../keys/verify-key.ts";
import type { RateLimit, RateLimiter, RateState } from "./rate-limit.ts";

/** Who sends a request: a key that is genuine, and the endpoint it belongs to. */
export interface Caller {
  readonly key: Key;
  readonly ready: ReadyEndpoint;
  /** The address of the client that connected, canonical; not the submitter's that a backend passes on. */
  readonly address: string;
}

export interface RateLimits {
  readonly publishable: RateLimit;
  readonly secret: RateLimit;
  readonly badKey: RateLimit;
}

export interface Gatekeeper {
  /**
   * @param authorization the header's value.
   * @throws unauthorized: one error for a missing, malformed, unknown or revoked key; rate_limited when the address
   *   sent too many bad keys; unavailable when too many keys are being checked.
   */
  authenticate(authorization: string | undefined, address: string): Promise<Caller>;
  /** Counts the request; null where no limit applies. @throws rate_limited */
  admit(caller: Caller): RateState | null;
}

export function createGatekeeper(
  verifier: KeyVerifier,
  directory: EndpointDirectory,
  limiter: RateLimiter,
  limits: RateLimits,
  exempt: NetworkList,
): Gatekeeper {
  const countBadKey = (address: string): (() => void) => {
    if (exempt.contains(address)) return () => {};
    const unit = `bad ${addressUnit(address)}`;
    const state = limiter.count(unit, limits.badKey);
    if (state !== null && !state.allowed) throw tooMany(state);
    return () => limiter.giveBack(unit);
  };

  return {
    async authenticate(authorization, address) {
      const text = readBearer(authorization);
      if (text === null) throw unauthorized();
      const parsed = parseKey(text);
      let key = parsed === null ? null : verifier.recall(parsed);
      if (key === null) {
        // Counted before the hash is computed, so that requests in parallel cannot slip past the limit together.
        const giveBack = countBadKey(address);
        key = parsed === null ? null : await verifier.verify(parsed);
        if (key !== null) giveBack();
      }
      const ready = key === null ? undefined : directory.get(key.endpointId);
      if (key === null || ready === undefined) throw unauthorized();
      return { key, ready, address };
    },

    admit({ key, ready, address }) {
      if (exempt.contains(address)) return null;
      const isSecret = key.kind === "secret";
      const unit = isSecret ? `key ${key.id}` : `${ready.endpoint.id} ${addressUnit(address)}`;
      const state = limiter.count(unit, isSecret ? limits.secret : limits.publishable);
      if (state !== null && !state.allowed) throw tooMany(state);
      return state;
    },
  };
}

/** The token of `Bearer <token>`; null where there is no such header. */
function readBearer(authorization: string | undefined): string | null {
  if (authorization === undefined || authorization.slice(0, 7).toLowerCase() !== "bearer ") return null;
  const text = authorization.slice(7).trim();
  return text === "" ? null : text;
}

function unauthorized(): FormsvcError {
  return new FormsvcError("unauthorized");
}

function tooMany(state: RateState): FormsvcError {
  return new FormsvcError("rate_limited", `Too many requests; try again in ${state.resetSeconds} seconds.`, {
    retryAfterSeconds: state.resetSeconds,
  });
}
