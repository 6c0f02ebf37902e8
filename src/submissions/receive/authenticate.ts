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

interface RateLimits {
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
  /**
   * The same, but only if this process remembers the key and the endpoint; null otherwise. This is enough for most posts, which then wait
   * for nothing.
   */
  recall(authorization: string | undefined, address: string): Caller | null;
  /**
   * The caller for a post from a form's own page, which needs no key; null if there is no such form or its page is off. @param form the
   * endpoint's id, or its name
   */
  ofPage(form: string, address: string): Promise<Caller | null>;
  /**
   * The caller with the current settings, at once if they are remembered. Rejects with unauthorized if the key has been revoked meanwhile.
   */
  renew(caller: Caller): MaybeLater<Caller>;
  /** The same, but reads the endpoint anew, because it changed a moment ago. */
  reread(caller: Caller): Promise<Caller>;
  /** Counts a request against the limit of its sender; returns null if no limit applies. @throws rate_limited */
  admit(caller: Caller): RateState | null;
  /** Counts a request for a challenge. An address may make as many as posts, and the two are counted separately. @throws rate_limited */
  admitQuestion(caller: Caller): void;
}

export interface GatekeeperParts {
  readonly verifier: KeyVerifier;
  readonly directory: EndpointDirectory;
  /** Finds the id of the endpoint whose own page has this name; null if there is none. */
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
  /** Verifies a key that this process does not remember. A bad key counts against its address, as does one that gets no slot. */
  const prove = (parsed: ParsedKey | null, address: string): Promise<Key | null> => {
    // Looks again, because another post may have verified the key meanwhile: so it costs one hash, even if many posts bring it.
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

/** No real key has this id, because those begin with `key_`. */
export const PAGE_KEY_ID = "page";

/** A placeholder for the key of a post from the form's own page, which needs none because its address is public anyway. */
function pageKey(endpointId: string): Key {
  const never = { createdAt: 0, revokedAt: null, isRevoked: false, seenInBrowserAt: null };
  return { ...never, id: PAGE_KEY_ID, endpointId, kind: "publishable", lookup: "", hash: "", tag: null };
}

/** Reads the endpoint of a caller anew. @throws unauthorized if the endpoint was deleted or its page was turned off */
async function rereadCaller(directory: EndpointDirectory, caller: Caller): Promise<Caller> {
  const now = await directory.reread(caller.key.endpointId);
  const ready = caller.key.id === PAGE_KEY_ID ? readyPage(now) : now;
  if (!ready) throw unauthorized();
  return { ...caller, ready };
}

/** Null if the endpoint was deleted or its page is off. */
function readyPage(ready: ReadyEndpoint | undefined): ReadyEndpoint | null {
  return ready?.endpoint.settings.page.isOn === true ? withOwnPage(ready) : null;
}

/**
 * The endpoint with settings for its own page: the page posts from our own origin, whatever origins are allowed, and shows the result
 * itself.
 */
function withOwnPage(ready: ReadyEndpoint): ReadyEndpoint {
  const { endpoint } = ready;
  const settings = { ...endpoint.settings, allowedOrigins: [], successUrl: null, errorUrl: null };
  return { ...ready, endpoint: { ...endpoint, settings } };
}

interface Suspects {
  /** @throws rate_limited if the address has sent too many bad keys. */
  check(unit: string, work: () => Promise<Key | null>): Promise<Key | null>;
}

/**
 * Limits the bad keys of an address, also of parallel requests. If as many checks run as bad keys are still allowed, the next checks wait
 * for their results. So the limit is never exceeded, and no good key is refused.
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
        // A check that was refused for lack of a slot counts too: otherwise an address could use up all slots at no cost.
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
 * Refuses a secret key that a browser sent: such a key is in a page, where everybody can read it.
 *
 * @param onSecretInBrowser called with the key that leaked, to notify its owner. @throws forbidden
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
