import type { Confirmations } from "../../database/confirmations.ts";
import type { Database } from "../../database/database.ts";
import type { LiveServers } from "../../database/live-servers.ts";
import { BoundedMap } from "../../foundation/bounded-map.ts";
import type { Clock } from "../../foundation/clock.ts";
import { FormsvcError } from "../../foundation/errors.ts";
import { letterDelayed, letterFailed, letterSent, lettersWait } from "../../foundation/delivery-events.ts";
import type { Log } from "../../foundation/log.ts";
import { createRateLimiter, type RateLimiter } from "../../foundation/rate-limit.ts";
import { nextAttemptAt } from "../../outbox/sending/retry-schedule.ts";
import { classifyMail, type MailVerdict } from "../smtp/classify-mail.ts";
import { composeLetter } from "../compose/compose-letter.ts";
import {
  claimLetter,
  dropLetter,
  finishLetter,
  giveLetterBack,
  type LetterContent,
  type LetterOutcome,
  nextLetterAt,
  type StoredKind,
  type StoredLetter,
} from "./letter-store.ts";
import { FROM_NAME, type LetterOutcomeCount, type Timing } from "./letters.ts";
import type { SmtpResult } from "../smtp/smtp-result.ts";
import type { SmtpSender } from "../smtp/smtp-sender.ts";

export interface StoredLettersParts {
  readonly db: Database;
  readonly sender: Pick<SmtpSender, "send">;
  /** `mail.from` */
  readonly from: string;
  /** `mail.limits.perMinute` */
  readonly perMinute: number;
  /** `mail.scheduleSeconds` */
  readonly scheduleSeconds: readonly number[];
  readonly servers: LiveServers;
  readonly confirmations: Confirmations;
  /** Makes the link by which the holder of an address answers; null if there is nothing to ask any more. */
  readonly linkOf: (question: Pick<StoredLetter, "recipientId" | "topic">) => Promise<LetterContent["link"]>;
  readonly clock: Clock;
  readonly log: Log;
  readonly count: LetterOutcomeCount;
  readonly timing: Timing;
}

/**
 * The part of `mail.limits.perMinute` for each group of kinds: `share`. Each group has its own part, so that confirmations,
 * which anybody with an account causes, take nothing from letters that protect.
 */
const GROUPS: readonly { readonly kinds: readonly StoredKind[]; readonly share: number }[] = [
  { kinds: ["security", "operator"], share: 1 / 4 },
  { kinds: ["confirmation"], share: 1 / 8 },
];
/** The waits while the mail server accepts nothing; the last one repeats. No letter is given up because of that. */
const REST_MS = [60_000, 300_000, 900_000];
/** After an attempt with an unknown end, the letter is sent once more after this time at the earliest, because it may have arrived. */
const UNSURE_MS = 1_800_000;
/** The longest wait between two looks: another server may have written letters, and been lost. */
const LOOK_MS = 60_000;
/** The wait if a letter is due but another server has it, which may be lost, or if the standby does not answer. */
const HELD_MS = 5000;
/** The wait until a database that does not answer is tried again. */
const BUSY_MS = 1000;
/** The largest number of confirmations whose bytes are kept in memory for further attempts. */
const MAX_REMEMBERED = 200;

/**
 * Sends the letters of the table `letter`, one after the other. A letter stays there until the mail server accepts it or refuses it for
 * good, or until its schedule is spent. An unreachable mail server spends nothing. Each attempt has the same Message-ID and the same bytes.
 */
export class StoredLetters {
  readonly #parts: StoredLettersParts;
  readonly #limiter: RateLimiter;
  /** The bytes of letters with a token, which is stored nowhere else. */
  readonly #written = new BoundedMap<string, Buffer>(MAX_REMEMBERED);
  /** The number of failures in a row that speak of the mail server. */
  #faults = 0;
  /** No letter is sent before this time, to leave the mail server alone for a while. */
  #restUntil = 0;
  #hasDelivered = false;
  #cancelWake = (): void => {};
  #current: Promise<void> | null = null;
  /** Whether something may have become due since the round under way began. */
  #isWoken = false;
  #isRunning = false;

  constructor(parts: StoredLettersParts) {
    this.#parts = parts;
    this.#limiter = createRateLimiter(() => parts.timing.nowMs());
  }

  /** Call when the database can be used. */
  start(): void {
    this.#isRunning = true;
    this.wake();
  }

  /** Call after a letter was written. */
  wake(): void {
    this.#isWoken = true;
    this.#plan(0);
  }

  /** Begins no further attempt. Resolves when the attempt under way has ended; the sender may interrupt it. */
  async stop(): Promise<void> {
    this.#isRunning = false;
    this.#cancelWake();
    await this.#current;
  }

  #plan(ms: number): void {
    if (!this.#isRunning || this.#current !== null) return;
    this.#cancelWake();
    const restMs = Math.max(0, this.#restUntil - this.#parts.timing.nowMs());
    this.#cancelWake = this.#parts.timing.wakeIn(Math.max(ms, restMs), () => this.#begin());
  }

  #begin(): void {
    if (!this.#isRunning || this.#current !== null) return;
    this.#isWoken = false;
    this.#current = this.#runRound();
  }

  /** Runs a round and plans the next one. Never rejects. */
  async #runRound(): Promise<void> {
    let waitMs = BUSY_MS;
    try {
      waitMs = await this.#round();
    } catch (error) {
      // `database_busy` is not logged: another process or server was in the way for a moment.
      if (!(error instanceof FormsvcError && error.code === "database_busy"))
        lettersWait(this.#parts.log, error);
    }
    this.#current = null;
    this.#plan(this.#isWoken ? 0 : waitMs);
  }

  /** Sends one letter if one is due. Resolves to the number of milliseconds until the next look. @throws what the database throws. */
  async #round(): Promise<number> {
    const { db, servers, clock } = this.#parts;
    const groups = GROUPS.map((group) => ({ ...group, fullMs: this.#fullMs(group) }));
    const kinds = groups.flatMap((group) => (group.fullMs === 0 ? group.kinds : []));
    // A claim that a power cut loses is made again.
    const letter = await db.relaxedTransaction(() => claimLetter(kinds, servers, clock.now()));
    if (letter !== undefined) return await this.#sendConfirmed(letter);
    const fullMs = groups.map((group) => group.fullMs).filter((ms) => ms > 0);
    const dueAt = await db.read(nextLetterAt);
    const dueMs = dueAt === undefined ? LOOK_MS : dueAt - clock.now();
    return Math.min(LOOK_MS, ...fullMs, dueMs <= 0 ? HELD_MS : dueMs);
  }

  /** The milliseconds until the group may send again in this minute; 0 if it may now. */
  #fullMs({ kinds, share }: (typeof GROUPS)[number]): number {
    const max = Math.max(1, Math.floor(this.#parts.perMinute * share));
    const state = this.#limiter.look(kinds.join(), { max, windowSeconds: 60 });
    return state === null || state.allowed ? 0 : state.resetSeconds * 1000;
  }

  /**
   * Sends a letter only if the standby has its row: it reports a change that could otherwise be lost with the primary. Resolves like {@link
   * #round}.
   */
  async #sendConfirmed(letter: StoredLetter): Promise<number> {
    const { db, servers, confirmations } = this.#parts;
    if ((await confirmations.confirm()) === null) {
      await this.#send(letter);
      return 0;
    }
    await db.relaxedTransaction(() => giveLetterBack(letter, servers.self));
    return HELD_MS;
  }

  async #send(letter: StoredLetter): Promise<void> {
    const { db, sender, servers, clock } = this.#parts;
    const raw = this.#written.get(letter.id) ?? (await this.#compose(letter));
    if (raw === null) return await db.relaxedTransaction(() => dropLetter(letter.id));
    this.#count(letter.kind);
    const startedAt = clock.now();
    const result = await sender.send({ to: letter.address, raw });
    const verdict = classifyMail(result, this.#hasDelivered);
    this.#hasDelivered ||= result.stage === "done";
    const outcome = this.#settle(letter, verdict, toAttempt(letter, result, verdict, startedAt));
    if (outcome.state !== "pending") this.#written.delete(letter.id);
    // Before the mail server accepts it, losing this attempt does no harm; afterwards the letter must not be sent twice.
    await this.#record(() => finishLetter(letter, outcome, servers.self, clock.now()));
    this.#logOutcome(letter, outcome);
  }

  /** The bytes of a letter; null if it has become pointless. */
  async #compose(letter: StoredLetter): Promise<Buffer | null> {
    const { id, address: to, kind, content } = letter;
    const { from, linkOf } = this.#parts;
    const isQuestion = kind === "confirmation";
    const link = isQuestion ? await linkOf(letter) : content.link;
    if (isQuestion && link === null) return null;
    const { language, subject, paragraphs } = content;
    const words = {
      id,
      from,
      fromName: FROM_NAME,
      to,
      ...(language && { language }),
      subject,
      paragraphs,
      link,
    };
    const raw = composeLetter({ ...words, origin: "auto-generated" });
    if (isQuestion) this.#written.set(id, raw);
    return raw;
  }

  #count(kind: StoredKind): void {
    const group = GROUPS.find(({ kinds }) => kinds.includes(kind));
    if (group === undefined) return;
    const max = Math.max(1, Math.floor(this.#parts.perMinute * group.share));
    this.#limiter.count(group.kinds.join(), { max, windowSeconds: 60 });
  }

  #settle(letter: StoredLetter, { blame }: MailVerdict, attempt: LetterOutcome["attempt"]): LetterOutcome {
    const now = this.#parts.clock.now();
    if (blame !== "destination") this.#faults = 0;
    const { spent } = letter;
    if (blame === "nobody") return { state: "delivered", spent, dueAt: now, attempt };
    if (blame === "destination") this.#rest();
    if (blame === "destination" || blame === "own") return { state: "pending", spent, dueAt: now, attempt };
    // It seems that nobody reads this address, and the account that added it sees that. Other letters must reach their reader, so they are
    // tried again.
    if (blame === "message" && letter.kind === "confirmation")
      return { state: "failed", spent: spent + 1, dueAt: now, attempt };
    // As other e-mail, it goes once more; a further copy would not be more certain to have arrived.
    if (blame === "unsure" && letter.lastAttempt?.outcome === "unsure")
      return { state: "failed", spent: spent + 1, dueAt: now, attempt };
    const { scheduleSeconds } = this.#parts;
    const retryAfterMs = blame === "unsure" ? UNSURE_MS : null;
    const time = { nowMs: now, scheduleSeconds, retryAfterMs, random: 0 };
    const dueAt = nextAttemptAt({ ...time, spent: spent + 1 });
    return { state: dueAt === null ? "failed" : "pending", spent: spent + 1, dueAt: dueAt ?? now, attempt };
  }

  #rest(): void {
    const restMs = REST_MS[Math.min(this.#faults, REST_MS.length - 1)] ?? LOOK_MS;
    this.#faults += 1;
    this.#restUntil = this.#parts.timing.nowMs() + restMs;
  }

  /** Records the end of an attempt as soon as the database accepts it, because only this process knows it. */
  async #record(work: () => ReturnType<typeof finishLetter>): Promise<void> {
    for (;;) {
      try {
        return await this.#parts.db.relaxedTransaction(work);
      } catch (error) {
        if (!this.#isRunning) throw error;
        await new Promise<void>((resolve) => void this.#parts.timing.wakeIn(BUSY_MS, resolve));
      }
    }
  }

  #logOutcome({ kind, attempts }: StoredLetter, { state, attempt }: LetterOutcome): void {
    const { log, count } = this.#parts;
    const facts = { kind, attempts };
    const reason = `${attempt.outcome}: ${attempt.status ?? "no answer"}`;
    if (state === "pending") return letterDelayed(log, { ...facts, reason });
    count(state === "delivered" ? "sent" : "failed");
    if (state === "delivered") return letterSent(log, facts);
    return letterFailed(log, { ...facts, reason });
  }
}

function toAttempt(
  { attempts }: StoredLetter,
  { reply, durationMs }: SmtpResult,
  { outcome, message }: MailVerdict,
  startedAt: number,
): LetterOutcome["attempt"] {
  const isSent = outcome === "delivered";
  const status = reply?.code ?? null;
  const answer = reply?.text ?? null;
  const said = isSent ? null : message;
  return { number: attempts, startedAt, durationMs, outcome, status, message: said, answer, isProbe: false };
}
