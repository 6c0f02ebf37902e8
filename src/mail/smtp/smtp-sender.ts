import { Semaphore } from "../../foundation/semaphore.ts";
import type { SmtpExchange } from "./smtp-dialogue.ts";
import { signMail } from "./sign-mail.ts";
import { SmtpFailure } from "./smtp-failure.ts";
import type { SmtpReply, SmtpResult } from "./smtp-result.ts";
import { SmtpSession } from "./smtp-session.ts";
import type { SmtpSettings } from "./smtp-settings.ts";

/** An e-mail on its way to one recipient. */
interface OutgoingMail {
  /** One address, as `parseMailAddress` returned it. */
  readonly to: string;
  /** The bytes of the e-mail as a composer returned them; the same for every attempt. */
  readonly raw: Buffer;
}

/** Sends e-mail to the mail server, and reuses connections. */
export interface SmtpSender {
  /** Makes one attempt; never rejects. The time limit starts at once, so call it only when a slot is free. */
  send(mail: OutgoingMail): Promise<SmtpResult>;
  /** Goes through the same steps up to the sender's address, over a connection of its own. @param onExchange called for each reply. */
  check(onExchange?: (exchange: SmtpExchange) => void): Promise<SmtpResult>;
  /** Ends every connection; attempts under way end with the code `EINTERRUPTED`. */
  close(): Promise<void>;
}

/** An idle connection is ended after this time. */
const IDLE_MS = 5000;
/** Servers commonly allow a hundred e-mails a connection. */
const MAX_MAILS_A_SESSION = 100;

export function createSmtpSender(settings: SmtpSettings): SmtpSender {
  return new PooledSender(settings);
}

class PooledSender implements SmtpSender {
  readonly #settings: SmtpSettings;
  /** The idle connections, each with the timer that ends it. */
  readonly #idle = new Map<SmtpSession, NodeJS.Timeout>();
  readonly #underWay = new Set<Attempt>();
  readonly #slots: Semaphore;
  #isClosed = false;

  constructor(settings: SmtpSettings) {
    this.#settings = settings;
    this.#slots = new Semaphore({ maxRunning: settings.connections });
  }

  send(mail: OutgoingMail): Promise<SmtpResult> {
    return this.#slots.run(() => this.#attempt((attempt) => this.#sendBy(attempt, mail)));
  }

  async #sendBy(attempt: Attempt, { to, raw }: OutgoingMail): Promise<SmtpReply | null> {
    const { dkim } = this.#settings;
    const signed = dkim === null ? raw : await signMail(raw, dkim);
    const idle = this.#takeIdle();
    if (idle !== null) {
      try {
        return await attempt.use(idle).send(to, signed);
      } catch (error) {
        if (!isStale(error)) throw error;
      }
    }
    const session = attempt.use(new SmtpSession(this.#settings));
    await session.open();
    return session.send(to, signed);
  }

  async check(onExchange: (exchange: SmtpExchange) => void = () => undefined): Promise<SmtpResult> {
    let isChecked = false;
    const report = (exchange: SmtpExchange): void => {
      // The goodbye comes after the check, and is not part of it.
      if (!isChecked) onExchange(exchange);
    };
    const result = await this.#attempt(async (attempt) => {
      const session = attempt.use(new SmtpSession(this.#settings, report));
      await session.open();
      return session.trySender();
    });
    isChecked = true;
    return result;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const attempt of this.#underWay) attempt.interrupt("EINTERRUPTED", "the sender was stopped");
    for (const [session, timer] of this.#idle) {
      clearTimeout(timer);
      session.quit();
    }
    this.#idle.clear();
  }

  /** Runs `work` within the time limit, and keeps the connection that it used last. */
  async #attempt(work: (attempt: Attempt) => Promise<SmtpReply | null>): Promise<SmtpResult> {
    const startedAt = performance.now();
    const attempt = new Attempt();
    this.#underWay.add(attempt);
    const { timeoutMs } = this.#settings;
    const timer = setTimeout(() => attempt.interrupt("EDEADLINE", `no end after ${timeoutMs} ms`), timeoutMs);
    const ended = await settle(async () => {
      if (this.#isClosed) throw SmtpFailure.byProblem("connect", "EINTERRUPTED", "the sender was stopped");
      return work(attempt);
    });
    clearTimeout(timer);
    this.#underWay.delete(attempt);
    this.#release(attempt.session, ended.stage === "done");
    return { ...ended, durationMs: Math.round(performance.now() - startedAt) };
  }

  #release(session: SmtpSession | null, isSound: boolean): void {
    if (session === null) return;
    if (!isSound) return session.destroy();
    if (this.#isClosed || session.sentCount >= MAX_MAILS_A_SESSION) return session.quit();
    const timer = setTimeout(() => {
      this.#idle.delete(session);
      session.quit();
    }, IDLE_MS);
    this.#idle.set(session, timer);
    return undefined;
  }

  /** Takes the connection that was used last: the server is least likely to have ended it. */
  #takeIdle(): SmtpSession | null {
    for (const [session, timer] of [...this.#idle].reverse()) {
      clearTimeout(timer);
      this.#idle.delete(session);
      if (session.isOpen) return session;
    }
    return null;
  }
}

/** The connections of one attempt, one after the other. */
class Attempt {
  #session: SmtpSession | null = null;
  #interruption: readonly [code: string, detail: string] | null = null;

  /** The last connection; null before the first. */
  get session(): SmtpSession | null {
    return this.#session;
  }

  use(session: SmtpSession): SmtpSession {
    this.#session?.destroy();
    this.#session = session;
    if (this.#interruption !== null) session.interrupt(...this.#interruption);
    return session;
  }

  /** Ends the connection in use, and each one that is opened later, because the attempt may be between two connections, or signing. */
  interrupt(code: string, detail: string): void {
    this.#interruption = [code, detail];
    this.#session?.interrupt(code, detail);
  }
}

async function settle(work: () => Promise<SmtpReply | null>): Promise<Omit<SmtpResult, "durationMs">> {
  try {
    return { stage: "done", reply: await work(), problem: null };
  } catch (error) {
    const failure = error instanceof SmtpFailure ? error : defect(error);
    return { stage: failure.stage, reply: failure.reply, problem: failure.problem };
  }
}

/** An unexpected error. The record of the attempt has its message. It speaks of this e-mail alone, so that no other e-mail waits for it. */
function defect(error: unknown): SmtpFailure {
  return SmtpFailure.byProblem("data", "EUNKNOWN", error instanceof Error ? error.message : String(error));
}

const OWN_ENDS = new Set(["EDEADLINE", "EINTERRUPTED", "ETOOLARGE"]);

/** Whether the server had most likely ended a kept connection already, so that nothing of the message was sent. */
function isStale(error: unknown): boolean {
  if (!(error instanceof SmtpFailure)) return false;
  const { stage, reply, problem } = error;
  if (stage !== "sender" && stage !== "recipient" && stage !== "data") return false;
  return reply === null ? !OWN_ENDS.has(problem?.code ?? "") : reply.code === 421;
}
