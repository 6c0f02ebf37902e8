import { hash } from "node:crypto";
import { BoundedMap } from "../foundation/bounded-map.ts";
import { FormsvcError } from "../foundation/errors.ts";
import { createFairLines } from "../foundation/fair-lines.ts";
import { addressUnit, shortenAddress } from "../foundation/ip-address.ts";
import { createRateLimiter } from "../foundation/rate-limit.ts";

/** One attempt to prove who somebody is. It counts as a failure until it has succeeded. */
export interface SignInAttempt {
  /** Resolves when the attempt may be made: at once, or after a delay that grows with the account's failures. */
  readonly admitted: Promise<void>;
  /** Forgets the account's failures, and that this trier tried. */
  succeeded(): void;
}

/** Who tries to sign in. */
export interface Trier {
  /** Canonical. */
  readonly address: string;
  /** Null is a stranger. */
  readonly known: KnownTrier | null;
}

/**
 * Somebody who showed earlier that they belong to the account: a browser or address that signed in to it, somebody who is signed in, or
 * the holder of a link. What strangers do neither counts against them nor makes them wait.
 */
export interface KnownTrier {
  readonly accountId: string;
  /** What they are known by, like `device …`. Their own failures are counted by it. */
  readonly by: string;
}

/** How often passwords, links and codes may be tried. In memory and bounded; a restart forgets all of it. */
export interface AttemptLimits {
  /**
   * An attempt with a password. It may have to wait for seconds, and is never refused for what others did to the account: so nobody
   * locks another one out. Strangers wait in lines by network, and the network with most waiting makes way.
   *
   * @param account any name of the account, one for each.
   * @throws rate_limited when the trier has tried too often; `admitted` rejects with unavailable when too many wait.
   */
  begin(trier: Trier, account: string): SignInAttempt;
  /** Counts an attempt with anything but a password. @throws rate_limited when the trier has tried too often. */
  count(trier: Trier): void;
  /** Takes it back when it succeeded. */
  giveBack(trier: Trier): void;
  /**
   * Counts an attempt with a code, which is short enough to be guessed. Only who knows the password or has a link comes this far,
   * so too many wrong ones in a row are refused for a time.
   *
   * @param account any name of the account and of the way. @throws rate_limited
   */
  countCode(account: string): void;
  /** Forgets the wrong codes. */
  codeSucceeded(account: string): void;
  /** Takes an attempt back whose code nobody looked at. */
  codeUnread(account: string): void;
}

const BY_TRIER = { max: 10, windowSeconds: 600 };
/** Failures after which an account's next attempt waits, and for how long: twice as long each time. */
const FREE_FAILURES = 3;
const FIRST_DELAY_MS = 250;
const MAX_DELAY_MS = 8000;
/** Attempts that wait at once: of strangers, and as many of those who are known. */
const MAX_WAITING = 100;
/** Wrong codes after which the next one is refused for a time: twice as long each time. */
const FREE_CODES = 5;
const FIRST_PAUSE_MS = 30_000;
const MAX_PAUSE_MS = 900_000;
/** After this time without a failure, those of an account are forgotten. */
const FORGET_MS = 3_600_000;
/** Accounts remembered; beyond this the one whose last failure is the oldest is forgotten. */
const MAX_ACCOUNTS = 10_000;

/** What one is told that cannot wait. */
export const TOO_MANY_WAIT = "Too many people sign in at this moment; try again shortly.";

/** The line that a trier waits in. */
export function lineOf({ address, known }: Trier): string {
  return known === null ? shortenAddress(address) : known.accountId;
}

/** Resolves after a time; rejects when it is cut short. */
export type Sleep = (ms: number, signal: AbortSignal) => Promise<unknown>;

interface Failures {
  count: number;
  lastAt: number;
}

/** @param nowMs monotonic: setting the machine's clock neither frees nor delays anybody. */
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
      const delayMs = doubling(earlier - FREE_FAILURES + 1, FIRST_DELAY_MS, MAX_DELAY_MS);
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
      const pauseMs = doubling(earlier - FREE_CODES + 1, FIRST_PAUSE_MS, MAX_PAUSE_MS);
      const leftMs = lastAt + pauseMs - nowMs();
      if (pauseMs > 0 && leftMs > 0) throw tooMany("Too many wrong codes.", Math.ceil(leftMs / 1000));
      codes.add(account);
    },
    codeSucceeded: (account) => codes.forget(account),
    codeUnread: (account) => codes.takeBack(account),
  };
}

/** What a trier's attempts are counted by. */
function unitOf({ address, known }: Trier): string {
  return known === null ? addressUnit(address) : `${known.by} ${known.accountId}`;
}

/** Holds attempts back for a time, up to {@link MAX_WAITING} at once. Who gives way to another line rejects with unavailable. */
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

/** 0 up to the first, then `firstMs`, twice that, and so on. */
function doubling(number: number, firstMs: number, maxMs: number): number {
  return number < 1 ? 0 : Math.min(maxMs, firstMs * 2 ** (number - 1));
}

function createFailureCount(nowMs: () => number) {
  /** By {@link fingerprint}; the account whose last failure is the oldest comes first. */
  const accounts = new BoundedMap<string, Failures>(MAX_ACCOUNTS);
  const find = (key: string): Failures => {
    const known = accounts.get(key);
    return known !== undefined && nowMs() - known.lastAt < FORGET_MS ? known : { count: 0, lastAt: 0 };
  };
  return {
    look: (account: string): Failures => find(fingerprint(account)),
    /** Returns the failures before this one. */
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

/** The name is what a stranger typed: kilobytes, or a password in the wrong field. Neither is kept. */
function fingerprint(account: string): string {
  return hash("sha256", account, "base64");
}

function tooMany(what: string, seconds: number): FormsvcError {
  const message = `${what} Try again in ${seconds < 120 ? `${seconds} seconds` : `${Math.ceil(seconds / 60)} minutes`}.`;
  return new FormsvcError("rate_limited", message, { retryAfterSeconds: seconds });
}
