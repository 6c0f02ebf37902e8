import type { EndpointDirectory, ReadyEndpoint } from "../../endpoints/endpoint-directory.ts";
import { FormsvcError } from "../../foundation/errors.ts";
import { isId } from "../../foundation/id.ts";
import { addressUnit, type NetworkList } from "../../foundation/ip-address.ts";
import { type ParsedKey, parseKey } from "../../keys/key-format.ts";
import type { Key } from "../../keys/key-store.ts";
import type { KeyVerifier } from "../../keys/verify-key.ts";
import type { RateLimit, RateLimiter, RateState } from "../../foundation/rate-limit.ts";
import { andThen, type MaybeLater } from "../../foundation/maybe-later.ts";

/** The sender of a request: a genuine key, and the endpoint it belongs to. */
export interface Caller {
  readonly key: Key;
  readonly ready: ReadyEndpoint;
  /** The address of the client that connected, canonical; not the submitter's address that a backend passes on. */
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
  /** The same for a key and an endpoint that this process remembers; null for any other. Most posts need no more, and wait for nothing. */
  recall(authorization: string | undefined, address: string): Caller | null;
  /** Whoever sends a form's own page, which needs no key; null if there is none, or it is off. @param form its id, or its name if that is unique */
  ofPage(form: string, address: string): Promise<Caller | null>;
  /** The caller with the settings of now, at once if they are remembered; rejects with unauthorized if its key has ended meanwhile. */
  renew(caller: Caller): MaybeLater<Caller>;
  /** The same for a caller whose endpoint is known to have changed a moment ago: it is read anew. */
  reread(caller: Caller): Promise<Caller>;
  /** Counts the request; null if no limit applies. @throws rate_limited */
  admit(caller: Caller): RateState | null;
  /** Counts a question for a challenge: an address may ask as often as it may post, and neither takes from the other. @throws rate_limited */
  admitQuestion(caller: Caller): void;
}

export interface GatekeeperParts {
  readonly verifier: KeyVerifier;
  readonly directory: EndpointDirectory;
  /** The endpoint of a name that is unique; null if there is none. */
  readonly findNamed: (name: string) => Promise<string | null>;
  readonly limiter: RateLimiter;
  readonly limits: RateLimits;
  readonly exempt: NetworkList;
}

export function createGatekeeper(parts: GatekeeperParts): Gatekeeper {
  const { verifier, directory, limiter, limits, exempt } = parts;
  const onPage = async (endpointId: string, address: string): Promise<Caller | null> => {
    const ready = readyPage(await directory.find(endpointId));
    return ready === null ? null : { key: pageKey(endpointId), ready, address };
  };
  const suspects = createSuspects(limiter, limits.badKey);
  /** Proves a key that this process does not remember. A bad key, or one that finds no place, counts against its address. */
  const prove = (parsed: ParsedKey | null, address: string): Promise<Key | null> => {
    // Another post may have proved it while this one waited: a key costs one hash, however many posts bring it at once.
    const work = async (): Promise<Key | null> =>
      parsed === null ? null : ((await verifier.find(parsed.text)) ?? verifier.verify(parsed));
    return exempt.contains(address) ? work() : suspects.check(addressUnit(address), work);
  };

  const callerWith = async (key: Key | null, address: string): Promise<Caller> => {
    const ready = key === null ? undefined : await directory.find(key.endpointId);
    if (key === null || ready === undefined) throw unauthorized();
    return { key, ready, address };
  };

  const recallCaller = (key: Key | null, address: string): Caller | null => {
    const ready = key === null ? undefined : directory.recall(key.endpointId);
    return key === null || ready === undefined ? null : { key, ready, address };
  };

  return {
    async authenticate(authorization, address) {
      const text = readBearer(authorization);
      if (text === null) throw unauthorized();
      return callerWith((await verifier.find(text)) ?? (await prove(parseKey(text), address)), address);
    },

    recall(authorization, address) {
      const text = readBearer(authorization);
      return recallCaller(text === null ? null : verifier.recall(text), address);
    },

    async ofPage(form, address) {
      const id = isId("ep", form) ? form : await parts.findNamed(form);
      return id === null ? null : onPage(id, address);
    },

    renew({ key, address }) {
      if (key.id === PAGE_KEY_ID)
        return onPage(key.endpointId, address).then((caller) => caller ?? Promise.reject(unauthorized()));
      return andThen(
        verifier.renew(key),
        (renewed) => recallCaller(renewed, address) ?? callerWith(renewed, address),
      );
    },
    reread: (caller) => rereadCaller(directory, caller),

    admit({ key, ready, address }) {
      if (exempt.contains(address)) return null;
      const isSecret = key.kind === "secret";
      const unit = isSecret ? `key ${key.id}` : `${ready.endpoint.id} ${addressUnit(address)}`;
      const state = limiter.count(unit, isSecret ? limits.secret : limits.publishable);
      if (state !== null && !state.allowed) throw tooMany(state);
      return state;
    },

    admitQuestion({ ready, address }) {
      if (exempt.contains(address)) return;
      const unit = `challenge ${ready.endpoint.id} ${addressUnit(address)}`;
      const state = limiter.count(unit, limits.publishable);
      if (state !== null && !state.allowed) throw tooMany(state);
    },
  };
}

/** No key has it: theirs begin with `key_`. */
export const PAGE_KEY_ID = "page";

/** What stands in the place of a key: the page is ours, and its address is public. */
function pageKey(endpointId: string): Key {
  const never = { createdAt: 0, revokedAt: null, isRevoked: false, seenInBrowserAt: null };
  return { ...never, id: PAGE_KEY_ID, endpointId, kind: "publishable", lookup: "", hash: "", tag: null };
}

/** @throws unauthorized if the endpoint is gone, or its page was turned off */
async function rereadCaller(directory: EndpointDirectory, caller: Caller): Promise<Caller> {
  const now = await directory.reread(caller.key.endpointId);
  const ready = caller.key.id === PAGE_KEY_ID ? readyPage(now) : now;
  if (!ready) throw unauthorized();
  return { ...caller, ready };
}

/** Null if the endpoint is gone, or its page is off. */
function readyPage(ready: ReadyEndpoint | undefined): ReadyEndpoint | null {
  return ready?.endpoint.settings.page.isOn === true ? withOwnPage(ready) : null;
}

/** The page posts from our own origin, whatever other pages may, and shows itself what came of it. */
function withOwnPage(ready: ReadyEndpoint): ReadyEndpoint {
  const { endpoint } = ready;
  const settings = { ...endpoint.settings, allowedOrigins: [], successUrl: null, errorUrl: null };
  return { ...ready, endpoint: { ...endpoint, settings } };
}

interface Suspects {
  /** @throws rate_limited when the unit has sent too many bad keys. */
  check(unit: string, work: () => Promise<Key | null>): Promise<Key | null>;
}

/**
 * Bounds the bad keys of an address, parallel ones included: while as many checks are under way as the limit still allows, the
 * next ones wait for their results. So none passes the limit, and no good key is refused.
 */
function createSuspects(limiter: RateLimiter, limit: RateLimit): Suspects {
  const running = new Map<string, Set<Promise<unknown>>>();
  const remaining = (unit: string): number => {
    const state = limiter.look(`bad ${unit}`, limit);
    if (state === null) return Number.POSITIVE_INFINITY;
    if (!state.allowed) throw tooMany(state);
    return state.remaining;
  };
  return {
    async check(unit, work) {
      let mine = running.get(unit) ?? new Set();
      while (remaining(unit) <= mine.size) {
        await Promise.race(mine);
        mine = running.get(unit) ?? new Set();
      }
      const started = work();
      const settled = started.catch(() => null);
      running.set(unit, mine.add(settled));
      try {
        const key = await started;
        if (key === null) limiter.count(`bad ${unit}`, limit);
        return key;
      } catch (error) {
        // Otherwise an address could occupy every place at no cost.
        if (error instanceof FormsvcError && error.code === "unavailable")
          limiter.count(`bad ${unit}`, limit);
        throw error;
      } finally {
        mine.delete(settled);
        if (mine.size === 0) running.delete(unit);
      }
    },
  };
}

/** The token of `Bearer <token>`; null if there is no such header. */
function readBearer(authorization: string | undefined): string | null {
  if (authorization === undefined || authorization.slice(0, 7).toLowerCase() !== "bearer ") return null;
  const text = authorization.slice(7).trim();
  return text === "" ? null : text;
}

/**
 * A secret key that a browser sent is in a page, which everybody can read: it is refused, and its owner is told.
 *
 * @param onSecretInBrowser called for the key that leaked. @throws forbidden
 */
export function refuseSecretInBrowser(
  caller: Caller,
  fromBrowser: boolean,
  onSecretInBrowser: (caller: Caller) => void,
): void {
  if (caller.key.kind !== "secret" || !fromBrowser) return;
  onSecretInBrowser(caller);
  throw new FormsvcError(
    "forbidden",
    "A secret key was sent by a browser; use the publishable key there, and rotate this one.",
  );
}

function unauthorized(): FormsvcError {
  return new FormsvcError("unauthorized");
}

function tooMany(state: RateState): FormsvcError {
  return new FormsvcError("rate_limited", `Too many requests; try again in ${state.resetSeconds} seconds.`, {
    retryAfterSeconds: state.resetSeconds,
  });
}
