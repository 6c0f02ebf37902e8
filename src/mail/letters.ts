import type { Clock } from "../foundation/clock.ts";
import { letterDelayed, letterFailed, letterRefused, letterSent } from "../foundation/events.ts";
import { FormsvcError } from "../foundation/errors.ts";
import { newId } from "../foundation/id.ts";
import type { Log } from "../foundation/log.ts";
import type { Metrics } from "../foundation/metrics.ts";
import { createRateLimiter, type RateLimiter } from "../foundation/rate-limit.ts";
import { composeLetter, type LetterMessage as ComposedLetter } from "./compose-letter.ts";
import { COMMON_STAGES, type SmtpResult } from "./smtp-result.ts";
import type { SmtpSender } from "./smtp-sender.ts";

/** What a letter is about: an account to make, or a password that was forgotten. Anybody can ask for either. */
export type LetterKind = "sign-up" | "reset";

/** A small e-mail with the token of a link, that somebody waits for and can ask for again. */
export interface TokenLetter {
  readonly kind: LetterKind;
  /** As `parseMailAddress` gives it; letters are counted by it. */
  readonly address: string;
  /**
   * Called when the letter's turn has come, and again if the database was busy; null if there is nothing to send after all. So
   * whoever asked was answered before it is known whether there is anything to say.
   */
  write(): Promise<WrittenLetter | null>;
}

/** What {@link composeLetter} needs to know of it; `to` is as `parseMailAddress` gives it. */
export type WrittenLetter = Pick<ComposedLetter, "to" | "subject" | "paragraphs" | "link">;

/** Whether a letter will be sent; else whether its address got too many, or too many wait. */
export type LetterAnswer = "taken" | "too many" | "full";

/** Monotonic time and a wake-up; a test moves both. */
export interface Timing {
  nowMs(): number;
  /** Returns what cancels it. */
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
  /** `mail.limits.perMinute`; letters take a quarter of it. */
  readonly perMinute: number;
  readonly clock: Clock;
  readonly log: Log;
  /** As {@link countLetters} makes it. */
  readonly count: LetterOutcomeCount;
  readonly timing: Timing;
}

/** Letters of one kind to one address. */
const PER_ADDRESS = { max: 3, windowSeconds: 3600 };
/** Letters of each kind that wait, those to be tried again included: no kind takes the room of the other. */
const MAX_WAITING = 50;
/** What `mail.limits.perMinute` is divided by. */
const SHARE = 4;
/** Waits before the next attempts, for servers that refuse the first one for some minutes (greylisting); the last one repeats. */
const RETRY_MS = [60_000, 300_000, 900_000];
/** After this time the letter is given up: its reader has asked again, and the link in it is too old. */
const MAX_AGE_MS = 3_600_000;
/** Wait for a database that another process holds. */
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
  /** From then on it may be sent. */
  dueAt: number;
  attempts: number;
  /** Once it is written. */
  mail: { readonly to: string; readonly raw: Buffer } | null;
}

/**
 * Sends letters, one after the other, and tries again for an hour if the mail server cannot take them now. They wait in memory: what
 * waits at the end of the process is lost, and its reader asks again. So no token of a link is ever written down. What must not be
 * lost is in the database (`stored-letters.ts`).
 */
export class Letters {
  readonly #parts: LettersParts;
  readonly #limiter: RateLimiter;
  readonly #waiting = new Set<Waiting>();
  /** Until then none is sent: the minute is full, or the mail server has a rest. */
  #restUntil = 0;
  #cancelWake = (): void => {};
  /** The one under way. */
  #current: Waiting | null = null;
  #isStopped = false;

  constructor(parts: LettersParts) {
    this.#parts = parts;
    this.#limiter = createRateLimiter(() => parts.timing.nowMs());
  }

  /**
   * Takes a letter, to be sent soon. Bounded: three an hour of one kind to one address, fifty of a kind that wait.
   */
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

  /** Takes nothing more and gives up what waits. The attempt under way ends by itself, or with the sender. */
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

  /** The one that is due first; of those that are due already, who forgot the password comes before who signs up. */
  #next(): Waiting | undefined {
    const now = this.#now();
    const rank = ({ letter, dueAt }: Waiting): number =>
      dueAt > now ? dueAt : letter.kind === "reset" ? dueAt - MAX_AGE_MS * 2 : dueAt;
    let next: Waiting | undefined;
    for (const each of this.#waiting) if (next === undefined || rank(each) < rank(next)) next = each;
    return next;
  }

  /** Never rejects. */
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

  /** Another process may hold the database for a moment. */
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
    const max = Math.max(1, Math.floor(this.#parts.perMinute / SHARE));
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

/** What follows a plus sign leads to the same mailbox with most mail servers, and capitals with all of them. */
function mailboxOf(address: string): string {
  return address.toLowerCase().replace(/\+[^@]*@/, "@");
}

/** Neither its address nor its words. */
function factsOf({ letter: { kind }, attempts }: Waiting) {
  return { kind, attempts };
}
