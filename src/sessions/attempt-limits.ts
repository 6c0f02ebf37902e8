import { hash } from "node:crypto";
import { FormsvcError } from "../foundation/errors.ts";
import { createRateLimiter } from "../foundation/rate-limit.ts";

/** One attempt to prove who somebody is. It counts as a failure until it has succeeded. */
export interface Attempt {
  /** Resolves when the attempt may be made: at once, or after a delay that grows with the account's failures. */
  readonly turn: Promise<void>;
  /** Forgets the account's failures, and that this address tried. */
  succeeded(): void;
}

/** How often passwords, links and codes may be tried. In memory and bounded; a restart forgets all of it. */
export interface AttemptLimits {
  /**
   * An attempt with a password. It may have to wait for seconds, and is never refused for what others did to the account: so nobody
   * locks another one out.
   *
   * @param address the unit that addresses are counted by. @param account any name of the account, one for each.
   * @throws rate_limited when the address has tried too often; unavailable when too many wait.
   */
  begin(address: string, account: string): Attempt;
  /** Counts an attempt with anything but a password. @throws rate_limited when the address has tried too often. */
  count(address: string): void;
  /** Takes it back when it succeeded. */
  giveBack(address: string): void;
  /**
   * Counts an attempt with a code, which is short enough to be guessed. Only who knows the password or has a link comes this far,
   * so too many wrong ones in a row are refused for a time.
   *
   * @param account any name of the account and of the way. @throws rate_limited
   */
  countCode(account: string): void;
  /** Forgets the wrong codes. */
  codeSucceeded(account: string): void;
}

const BY_ADDRESS = { max: 10, windowSeconds: 600 };
/** Failures after which an account's next attempt waits, and for how long: twice as long each time. */
const FREE_FAILURES = 3;
const FIRST_DELAY_MS = 250;
const MAX_DELAY_MS = 8000;
/** Attempts that wait at once. */
const MAX_WAITING = 100;
/** Wrong codes after which the next one is refused for a time: twice as long each time. */
const FREE_CODES = 5;
const FIRST_PAUSE_MS = 30_000;
const MAX_PAUSE_MS = 900_000;
/** After this time without a failure, those of an account are forgotten. */
const FORGET_MS = 3_600_000;
/** Accounts remembered; beyond this the one whose last failure is the oldest is forgotten. */
const MAX_ACCOUNTS = 10_000;

interface Failures {
  count: number;
  lastAt: number;
}

/** @param nowMs monotonic: setting the machine's clock neither frees nor delays anybody. */
export function createAttemptLimits(
  sleep: (ms: number) => Promise<unknown>,
  nowMs: () => number = () => performance.now(),
): AttemptLimits {
  const addresses = createRateLimiter(nowMs);
  const passwords = createFailureCount(nowMs);
  const codes = createFailureCount(nowMs);
  let waiting = 0;

  const count = (address: string): void => {
    const state = addresses.count(address, BY_ADDRESS);
    if (state !== null && !state.allowed)
      throw tooMany("Too many attempts to sign in from this address.", state.resetSeconds);
  };
  const wait = async (ms: number): Promise<void> => {
    waiting += 1;
    try {
      await sleep(ms);
    } finally {
      waiting -= 1;
    }
  };
  return {
    begin(address, account) {
      count(address);
      const earlier = passwords.add(account).count;
      const delayMs = doubling(earlier - FREE_FAILURES + 1, FIRST_DELAY_MS, MAX_DELAY_MS);
      if (delayMs > 0 && waiting >= MAX_WAITING)
        throw new FormsvcError("unavailable", "Too many people sign in at this moment; try again shortly.", {
          retryAfterSeconds: 1,
        });
      return {
        turn: delayMs === 0 ? Promise.resolve() : wait(delayMs),
        succeeded() {
          addresses.giveBack(address);
          passwords.forget(account);
        },
      };
    },
    count,
    giveBack: (address) => addresses.giveBack(address),
    countCode(account) {
      const { count: earlier, lastAt } = codes.look(account);
      const pauseMs = doubling(earlier - FREE_CODES + 1, FIRST_PAUSE_MS, MAX_PAUSE_MS);
      const leftMs = lastAt + pauseMs - nowMs();
      if (pauseMs > 0 && leftMs > 0) throw tooMany("Too many wrong codes.", Math.ceil(leftMs / 1000));
      codes.add(account);
    },
    codeSucceeded: (account) => codes.forget(account),
  };
}

/** 0 up to the first, then `firstMs`, twice that, and so on. */
function doubling(number: number, firstMs: number, maxMs: number): number {
  return number < 1 ? 0 : Math.min(maxMs, firstMs * 2 ** (number - 1));
}

function createFailureCount(nowMs: () => number) {
  /** By {@link fingerprint}; the account whose last failure is the oldest comes first. */
  const accounts = new Map<string, Failures>();
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
      if (accounts.size >= MAX_ACCOUNTS) accounts.delete(accounts.keys().next().value ?? "");
      accounts.set(key, { count: earlier.count + 1, lastAt: nowMs() });
      return earlier;
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
