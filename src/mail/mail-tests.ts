import { FormsvcError } from "../foundation/errors.ts";
import { createRateLimiter, type RateLimit } from "../foundation/rate-limit.ts";
import type { TestMail } from "./send-test-mail.ts";

/** Who presses the button may mean no good to who reads the mailbox, or to the mail server's name. */
const BY_ADDRESS: RateLimit = { max: 5, windowSeconds: 3600 };
/** What `mail.limits.perMinute` is divided by, for the tests of all accounts. */
const SHARE = 4;
/** Tests at once; each holds a connection that submissions wait for. */
const MAX_AT_ONCE = 2;

/** Sends the test e-mails of a server, bounded. */
export class MailTests {
  readonly #limiter = createRateLimiter();
  readonly #ofAll: RateLimit;
  readonly #underWay = new Set<string>();
  readonly #send: (to: string) => Promise<TestMail>;

  /** @param perMinute `mail.limits.perMinute` */
  constructor(send: (to: string) => Promise<TestMail>, perMinute: number) {
    this.#send = send;
    this.#ofAll = { max: Math.max(1, Math.floor(perMinute / SHARE)), windowSeconds: 60 };
  }

  /**
   * @param account whose test it is. @param note called before it is sent; what it throws keeps it from being sent.
   * @throws rate_limited if the account, the address or the server sent too many
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

const AT_ONCE = "Another test e-mail is under way. Try it again in a moment.";

function tooMany(seconds: number): FormsvcError {
  const minutes = Math.ceil(seconds / 60);
  const wait = minutes === 1 ? "a minute" : `${minutes} minutes`;
  const message = `No e-mail was sent, because too many tests were sent before it. Try it again in ${wait}.`;
  return new FormsvcError("rate_limited", message, { retryAfterSeconds: Math.max(1, Math.ceil(seconds)) });
}
