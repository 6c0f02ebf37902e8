import { FormsvcError } from "../../foundation/errors.ts";
import { createRateLimiter, type RateLimit } from "../../foundation/rate-limit.ts";
import type { TestMail } from "./send-test-mail.ts";

/** The limit of tests to one address. Somebody may want to annoy its holder with them, or to harm the reputation of the mail server. */
const BY_ADDRESS: RateLimit = { max: 5, windowSeconds: 3600 };
/** The part of `mail.limits.perMinute` for the tests of all accounts together: a quarter. */
const SHARE = 1 / 4;
/** The largest number of tests at once. Each holds a connection that e-mails about submissions may wait for. */
const MAX_AT_ONCE = 2;

/** Sends the test e-mails of a server, within limits. */
export class MailTests {
  readonly #limiter = createRateLimiter();
  readonly #ofAll: RateLimit;
  readonly #underWay = new Set<string>();
  readonly #send: (to: string) => Promise<TestMail>;

  /** @param perMinute `mail.limits.perMinute` */
  constructor(send: (to: string) => Promise<TestMail>, perMinute: number) {
    this.#send = send;
    this.#ofAll = { max: Math.max(1, Math.floor(perMinute * SHARE)), windowSeconds: 60 };
  }

  /**
   * Sends a test.
   *
   * @param account whose test it is. @param note called before the test is sent; if it throws, nothing is sent.
   * @throws rate_limited if the account, the address or the server sent too many.
   */
  async send(account: string, address: string, note: () => Promise<unknown>): Promise<TestMail> {
    const isBusy = this.#underWay.size >= MAX_AT_ONCE || this.#underWay.has(account);
    if (isBusy) throw new FormsvcError("rate_limited", AT_ONCE, { retryAfterSeconds: 1 });
    this.#count(address);
    this.#underWay.add(account);
    try {
      await note();
      return await this.#send(address);
    } finally {
      this.#underWay.delete(account);
    }
  }

  #count(address: string): void {
    const units = [
      [`address ${address.toLowerCase()}`, BY_ADDRESS],
      ["all", this.#ofAll],
    ] as const;
    const full = units
      .map(([unit, limit]) => this.#limiter.look(unit, limit))
      .find((state) => !state?.allowed);
    if (full) throw tooMany(full.resetSeconds);
    for (const [unit, limit] of units) this.#limiter.count(unit, limit);
  }
}

const AT_ONCE = "another test e-mail is under way; try it again in a moment";

function tooMany(seconds: number): FormsvcError {
  const minutes = Math.ceil(seconds / 60);
  const wait = minutes === 1 ? "a minute" : `${minutes} minutes`;
  const message = `no e-mail was sent, because too many tests were sent before it; try it again in ${wait}`;
  return new FormsvcError("rate_limited", message, { retryAfterSeconds: Math.max(1, Math.ceil(seconds)) });
}
