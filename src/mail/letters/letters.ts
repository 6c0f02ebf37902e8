import type { Clock } from "../../foundation/clock.ts";
import { letterDelayed, letterFailed, letterRefused, letterSent } from "../../foundation/delivery-events.ts";
import { FormsvcError } from "../../foundation/errors.ts";
import { newId } from "../../foundation/id.ts";
import type { Log } from "../../foundation/log.ts";
import type { Metrics } from "../../foundation/metrics.ts";
import { createRateLimiter, type RateLimiter } from "../../foundation/rate-limit.ts";
import { composeLetter, type LetterMessage as ComposedLetter } from "../compose/compose-letter.ts";
import { COMMON_STAGES, type SmtpResult } from "../smtp/smtp-result.ts";
import type { SmtpSender } from "../smtp/smtp-sender.ts";
import { HOUR_MS } from "../../foundation/time-units.ts";

/** The subject of a letter: an account to make, or a forgotten password. Anybody can ask for either. */
export type LetterKind = "sign-up" | "reset";

/** A small e-mail with the token of a link. Somebody waits for it, and can ask for it again. */
export interface TokenLetter {
  readonly kind: LetterKind;
  /** As `parseMailAddress` returned it. The letters to an address are counted. */
  readonly address: string;
  /**
   * Composes the letter. It is called just before the letter is sent, and again if the database was busy. Null if there is nothing to send
   * after all. So the answer to the request does not depend on whether there is something to send.
   */
  write(): Promise<WrittenLetter | null>;
}

/** The members that {@link composeLetter} needs from the letter; `to` is as `parseMailAddress` returned it. */
export type WrittenLetter = Pick<ComposedLetter, "to" | "subject" | "paragraphs" | "link">;

/** `taken` if the letter will be sent, `too many` if its address got too many, `full` if too many letters wait. */
export type LetterAnswer = "taken" | "too many" | "full";

/** A monotonic clock and a timer; a test controls both. */
export interface Timing {
  nowMs(): number;
  /** Calls `work` after this time. Returns a function that cancels it. */
  wakeIn(ms: number, work: () => void): () => void;
}

export const timing: Timing = {
  nowMs: () => performance.now(),
  wakeIn(ms, work) {
    const timer = setTimeout(work, ms);
    return () => clearTimeout(timer);
  },
};

export interface LettersParts {
  readonly sender: Pick<SmtpSender, "send">;
  /** `mail.from` */
  readonly from: string;
  /** `mail.limits.perMinute`; letters use a quarter of it. */
  readonly perMinute: number;
  readonly clock: Clock;
  readonly log: Log;
  /** As {@link countLetters} makes it. */
  readonly count: LetterOutcomeCount;
  readonly timing: Timing;
}

/** The limit of letters of one kind to one address. */
const PER_ADDRESS = { max: 3, windowSeconds: 3600 };
/** The largest number of letters of one kind that wait, with those that are to be tried again. So no kind takes the room of the other. */
const MAX_WAITING = 50;
/** The part of `mail.limits.perMinute` for letters: a quarter. */
const SHARE = 1 / 4;
/** The waits before the next attempts; the last one repeats. Some servers refuse the first attempt for some minutes (greylisting). */
const RETRY_MS = [60_000, 300_000, 900_000];
/** After this time a letter is given up: its reader has asked again, and its link has expired. */
const MAX_AGE_MS = HOUR_MS;
/** The wait until a database that another process holds is tried again. */
const BUSY_MS = 1000;
const STOPPED = "the server stopped";
export const FROM_NAME = "formsvc";

const OUTCOMES = ["sent", "failed", "refused"] as const;
export type LetterOutcomeCount = (outcome: (typeof OUTCOMES)[number]) => void;

export function countLetters(metrics: Metrics): LetterOutcomeCount {
  const help = "Letters, like the confirmation of an address, by what became of them.";
  return metrics.counter("formsvc_letters_total", help, "outcome", OUTCOMES);
}

interface Waiting {
  readonly letter: TokenLetter;
  readonly askedAt: number;
  /** The letter may be sent from this time on. */
  dueAt: number;
  attempts: number;
  /** The composed e-mail; null before it is composed. */
  mail: { readonly to: string; readonly raw: Buffer } | null;
}

/**
 * Sends letters, one after the other, and tries again for an hour if the mail server cannot take them now. They wait in memory, so that no
 * token of a link is ever stored. Letters that wait when the process ends are lost, and their readers ask again. Letters that must not be
 * lost are in the database (`stored-letters.ts`).
 */
export class Letters {
  readonly #parts: LettersParts;
  readonly #limiter: RateLimiter;
  readonly #waiting = new Set<Waiting>();
  /** No letter is sent before this time: the limit of the minute is reached, or the mail server is left alone for a while. */
  #restUntil = 0;
  #cancelWake = (): void => {};
  /** The letter that is being sent. */
  #current: Waiting | null = null;
  #isStopped = false;

  constructor(parts: LettersParts) {
    this.#parts = parts;
    this.#limiter = createRateLimiter(() => parts.timing.nowMs());
  }

  /** Takes a letter, to be sent soon. At most three letters an hour of one kind go to one address, and at most fifty of a kind wait. */
  send(letter: TokenLetter): LetterAnswer {
    const answer = this.#admit(letter);
    if (answer === "taken") {
      const askedAt = this.#now();
      this.#waiting.add({ letter, askedAt, dueAt: askedAt, attempts: 0, mail: null });
      this.#plan();
    } else {
      this.#parts.count("refused");
      letterRefused(this.#parts.log, { kind: letter.kind, why: answer });
    }
    return answer;
  }

  /** Takes no more letters and gives up those that wait. The attempt under way ends by itself, or with the sender. */
  stop(): void {
    this.#isStopped = true;
    this.#cancelWake();
    for (const each of this.#waiting) if (each !== this.#current) this.#fail(each, STOPPED);
  }

  #admit({ kind, address }: TokenLetter): LetterAnswer {
    const waiting = [...this.#waiting].filter(({ letter }) => letter.kind === kind).length;
    if (this.#isStopped || waiting >= MAX_WAITING) return "full";
    const state = this.#limiter.count(`${kind} ${mailboxOf(address)}`, PER_ADDRESS);
    return state === null || state.allowed ? "taken" : "too many";
  }

  #now(): number {
    return this.#parts.timing.nowMs();
  }

  #plan(): void {
    if (this.#isStopped || this.#current !== null) return;
    this.#cancelWake();
    const next = this.#next();
    if (next === undefined) return;
    const dueAt = Math.max(next.dueAt, this.#restUntil);
    this.#cancelWake = this.#parts.timing.wakeIn(
      Math.max(0, dueAt - this.#now()),
      () => void this.#sendNext(),
    );
  }

  /** The letter that is due first. Among letters that are already due, one about a forgotten password comes before a sign-up. */
  #next(): Waiting | undefined {
    const now = this.#now();
    const rank = ({ letter, dueAt }: Waiting): number =>
      dueAt > now ? dueAt : letter.kind === "reset" ? dueAt - MAX_AGE_MS * 2 : dueAt;
    let next: Waiting | undefined;
    for (const each of this.#waiting) if (next === undefined || rank(each) < rank(next)) next = each;
    return next;
  }

  /** Sends the next letter. Never rejects. */
  async #sendNext(): Promise<void> {
    const next = this.#next();
    if (this.#isStopped || this.#current !== null || next === undefined) return;
    this.#current = next;
    try {
      await this.#handle(next);
    } catch (error) {
      this.#retryBusy(next, error);
    }
    this.#current = null;
    this.#plan();
  }

  /** If another process holds the database, the letter is tried again soon; after any other error it is given up. */
  #retryBusy(waiting: Waiting, error: unknown): void {
    if (error instanceof FormsvcError && error.code === "database_busy")
      waiting.dueAt = this.#now() + BUSY_MS;
    else this.#fail(waiting, error instanceof Error ? error.message : "unknown");
  }

  async #handle(waiting: Waiting): Promise<void> {
    if (this.#now() - waiting.askedAt >= MAX_AGE_MS) return this.#fail(waiting, "too old");
    waiting.mail ??= await this.#compose(waiting.letter);
    if (waiting.mail === null) return void this.#waiting.delete(waiting);
    if (!this.#hasRoomInMinute()) return undefined;
    if (this.#isStopped) return this.#fail(waiting, STOPPED);
    waiting.attempts += 1;
    const result = await this.#parts.sender.send(waiting.mail);
    return this.#conclude(waiting, result);
  }

  async #compose(letter: TokenLetter): Promise<Waiting["mail"]> {
    const written = await letter.write();
    if (written === null) return null;
    const { from, clock } = this.#parts;
    const id = newId("msg", clock.now());
    const raw = composeLetter({ ...written, id, from, fromName: FROM_NAME, origin: "auto-generated" });
    return { to: written.to, raw };
  }

  #hasRoomInMinute(): boolean {
    const max = Math.max(1, Math.floor(this.#parts.perMinute * SHARE));
    const state = this.#limiter.count("all", { max, windowSeconds: 60 });
    if (state === null || state.allowed) return true;
    this.#restUntil = this.#now() + state.resetSeconds * 1000;
    return false;
  }

  #conclude(waiting: Waiting, { stage, reply, problem }: SmtpResult): void {
    if (stage === "done") return this.#succeed(waiting);
    if (this.#isStopped) return this.#fail(waiting, STOPPED);
    const reason = `${stage}: ${reply?.code ?? problem?.code ?? "no answer"}`;
    if (reply !== null && reply.code >= 500) return this.#fail(waiting, reason);
    waiting.dueAt = this.#now() + (RETRY_MS[Math.min(waiting.attempts, RETRY_MS.length) - 1] ?? MAX_AGE_MS);
    if (COMMON_STAGES.has(stage)) this.#restUntil = waiting.dueAt;
    return letterDelayed(this.#parts.log, { ...factsOf(waiting), reason });
  }

  #succeed(waiting: Waiting): void {
    this.#waiting.delete(waiting);
    this.#parts.count("sent");
    letterSent(this.#parts.log, factsOf(waiting));
  }

  #fail(waiting: Waiting, reason: string): void {
    this.#waiting.delete(waiting);
    this.#parts.count("failed");
    letterFailed(this.#parts.log, { ...factsOf(waiting), reason });
  }
}

/** The mailbox of an address: most mail servers ignore what follows a plus sign, and all ignore capital letters. */
function mailboxOf(address: string): string {
  return address.toLowerCase().replace(/\+[^@]*@/, "@");
}

/** The facts for the log: neither the address nor the words of the letter. */
function factsOf({ letter: { kind }, attempts }: Waiting) {
  return { kind, attempts };
}
