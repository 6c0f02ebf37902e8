import { hash } from "node:crypto";
import { BoundedMap } from "../foundation/bounded-map.ts";
import { doubled, type Doubling } from "../foundation/doubling.ts";
import { FormsvcError } from "../foundation/errors.ts";
import { createFairLines } from "../foundation/fair-lines.ts";
import { addressUnit, shortenAddress } from "../foundation/ip-address.ts";
import { createRateLimiter } from "../foundation/rate-limit.ts";
import { HOUR_MS } from "../foundation/time-units.ts";

/** An attempt to prove who somebody is. It counts as a failure until it has succeeded. */
interface SignInAttempt {
  /** Resolves when the attempt may be made: at once, or after a delay that grows with the account's failures. */
  readonly admitted: Promise<void>;
  /** Forgets the account's failures, and no longer counts this attempt. */
  succeeded(): void;
}

/** A client that tries to sign in to an account. */
export interface Trier {
  /** The IP address in canonical form. */
  readonly address: string;
  /** Null for a stranger. */
  readonly known: KnownTrier | null;
}

/**
 * A client that has shown earlier that it belongs to the account: a browser or address that signed in to it, somebody who is signed in, or
 * the holder of a link. The failures of strangers neither count against it nor make it wait.
 */
export interface KnownTrier {
  readonly accountId: string;
  /** How the client is known, like `device …`. Its own failures are counted under this. */
  readonly by: string;
}

/** Limits how often passwords, links and codes may be tried. The counts are in memory and bounded; a restart forgets them. */
export interface AttemptLimits {
  /**
   * Begins an attempt with a password. It may have to wait for seconds, but is never refused because of what others did to the account, so
   * that nobody can lock another person out. Strangers wait in lines by network; if too many wait, the network with the longest line gives
   * way.
   *
   * @param account a name of the account, always the same one.
   * @throws rate_limited if the trier has tried too often; `admitted` rejects with unavailable if too many wait.
   */
  begin(trier: Trier, account: string): SignInAttempt;
  /** Counts an attempt with anything but a password. @throws rate_limited if the trier has tried too often. */
  count(trier: Trier): void;
  /** No longer counts an attempt, because it succeeded. */
  giveBack(trier: Trier): void;
  /**
   * Counts an attempt with a code, which is short enough to be guessed. It is only made with the password or a link, so too many wrong
   * codes in a row are refused for a time.
   *
   * @param account a name of the account and of the way to sign in. @throws rate_limited
   */
  countCode(account: string): void;
  /** Forgets the wrong codes of an account. */
  codeSucceeded(account: string): void;
  /** No longer counts an attempt whose code was not checked. */
  codeUnread(account: string): void;
}

const BY_TRIER = { max: 10, windowSeconds: 600 };
/** The failures of an account after which the next attempt must wait, and its waits. */
const FREE_FAILURES = 3;
const DELAYS: Doubling = { firstMs: 250, longestMs: 8000 };
/** The largest number of strangers' attempts that wait at once; as many attempts of known clients may wait too. */
const MAX_WAITING = 100;
/** The number of wrong codes after which the next one is refused for a time, and those times. */
const FREE_CODES = 5;
const PAUSES: Doubling = { firstMs: 30_000, longestMs: 900_000 };
/** The failures of an account are forgotten after this time without a further one. */
const FORGET_MS = HOUR_MS;
/** The largest number of accounts whose failures are remembered. The one whose last failure is the oldest is forgotten first. */
const MAX_ACCOUNTS = 10_000;

/** The message for an attempt that cannot wait. */
export const TOO_MANY_WAIT = "Too many people sign in at this moment; try again shortly.";

/** The line that a trier waits in. */
export function lineOf({ address, known }: Trier): string {
  return known === null ? shortenAddress(address) : known.accountId;
}

/** Resolves after this time; rejects if `signal` is aborted. */
export type Sleep = (ms: number, signal: AbortSignal) => Promise<unknown>;

interface Failures {
  count: number;
  lastAt: number;
}

/** @param nowMs returns monotonic milliseconds, so that setting the machine's clock neither frees nor delays anybody. */
export function createAttemptLimits(
  sleep: Sleep,
  nowMs: () => number = () => performance.now(),
): AttemptLimits {
  const triers = createRateLimiter(nowMs);
  const passwords = createFailureCount(nowMs);
  const codes = createFailureCount(nowMs);
  const strangers = createWaitingRoom(sleep);
  const acquaintances = createWaitingRoom(sleep);

  const count = (trier: Trier): void => {
    const state = triers.count(unitOf(trier), BY_TRIER);
    if (state === null || state.allowed) return;
    const from = trier.known === null ? "from this address" : "to this account";
    throw tooMany(`Too many attempts to sign in ${from}.`, state.resetSeconds);
  };
  return {
    begin(trier, account) {
      count(trier);
      const failures = trier.known === null ? account : unitOf(trier);
      const earlier = passwords.add(failures).count;
      const delayMs = earlier < FREE_FAILURES ? 0 : doubled(DELAYS, earlier - FREE_FAILURES);
      const room = trier.known === null ? strangers : acquaintances;
      return {
        admitted: delayMs === 0 ? Promise.resolve() : room.wait(lineOf(trier), delayMs),
        succeeded() {
          triers.giveBack(unitOf(trier));
          passwords.forget(failures);
        },
      };
    },
    count,
    giveBack: (trier) => triers.giveBack(unitOf(trier)),
    countCode(account) {
      const { count: earlier, lastAt } = codes.look(account);
      const pauseMs = earlier < FREE_CODES ? 0 : doubled(PAUSES, earlier - FREE_CODES);
      const leftMs = lastAt + pauseMs - nowMs();
      if (pauseMs > 0 && leftMs > 0) throw tooMany("Too many wrong codes.", Math.ceil(leftMs / 1000));
      codes.add(account);
    },
    codeSucceeded: (account) => codes.forget(account),
    codeUnread: (account) => codes.takeBack(account),
  };
}

/** The name under which a trier's attempts are counted. */
function unitOf({ address, known }: Trier): string {
  return known === null ? addressUnit(address) : `${known.by} ${known.accountId}`;
}

/** Delays attempts, up to {@link MAX_WAITING} at once. An attempt that must give way to another line rejects with unavailable. */
function createWaitingRoom(sleep: Sleep) {
  const lines = createFairLines<AbortController>(MAX_WAITING);
  return {
    async wait(line: string, ms: number): Promise<void> {
      const waiter = new AbortController();
      lines.join(line, waiter)?.abort();
      try {
        if (!waiter.signal.aborted) await sleep(ms, waiter.signal);
      } catch (error) {
        if (!waiter.signal.aborted) throw error;
      } finally {
        lines.leave(line, waiter);
      }
      if (waiter.signal.aborted)
        throw new FormsvcError("unavailable", TOO_MANY_WAIT, { retryAfterSeconds: 1 });
    },
  };
}

function createFailureCount(nowMs: () => number) {
  /** By {@link fingerprint}, in the order of the last failure, the oldest first. */
  const accounts = new BoundedMap<string, Failures>(MAX_ACCOUNTS);
  const find = (key: string): Failures => {
    const known = accounts.get(key);
    return known !== undefined && nowMs() - known.lastAt < FORGET_MS ? known : { count: 0, lastAt: 0 };
  };
  return {
    look: (account: string): Failures => find(fingerprint(account)),
    /** Adds a failure, and returns the failures before it. */
    add(account: string): Failures {
      const key = fingerprint(account);
      const earlier = find(key);
      accounts.delete(key);
      accounts.set(key, { count: earlier.count + 1, lastAt: nowMs() });
      return earlier;
    },
    takeBack(account: string): void {
      const failures = accounts.get(fingerprint(account));
      if (failures !== undefined && failures.count > 0) failures.count -= 1;
    },
    forget: (account: string) => void accounts.delete(fingerprint(account)),
  };
}

/** A hash of the name. A stranger typed the name: it may have kilobytes, or be a password in the wrong field, and neither may be kept. */
function fingerprint(account: string): string {
  return hash("sha256", account, "base64");
}

function tooMany(what: string, seconds: number): FormsvcError {
  const message = `${what} Try again in ${seconds < 120 ? `${seconds} seconds` : `${Math.ceil(seconds / 60)} minutes`}.`;
  return new FormsvcError("rate_limited", message, { retryAfterSeconds: seconds });
}
