import { BoundedMap } from "../foundation/bounded-map.ts";

/** The process has two threads for names, and no question can be taken back from them. */
const SLOTS = 2;
/** Slots of one workspace, and of all who are known to be slow together. */
const HALF = SLOTS / 2;
/** A name that took longer than this is slow from then on, until it is asked again. */
const SLOW_MS = 1000;
/** So long its workspace counts as slow too: it may have any number of names. */
const SLOW_WORKSPACE_MS = 600_000;
/** The largest number of names, and of workspaces, known to be slow. */
const MAX_SLOW = 1000;
/** An attempt takes no longer unless it is set so, and nobody waits for the name of one that ended. */
const LONGEST_WAIT_MS = 10_000;
/** Questions of one workspace that wait; more fail at once. */
const MAX_WAITING = 200;

interface Question {
  readonly host: string;
  /** Null if there is no other workspace. */
  readonly workspace: string | null;
}

interface Waiter {
  readonly question: Question;
  readonly begin: () => void;
}

/**
 * Shares out the slots for questions about names. With several workspaces, one has half of them at most, so the other half is free
 * for the others while its name servers hang. Names that were slow, and every name of a workspace that had one lately, share half.
 */
export class LookupSlots {
  /** By workspace; the next one comes first, and none is empty. */
  readonly #lines = new Map<string | null, Waiter[]>();
  readonly #running = new Set<Question>();
  /** The questions under way that were known to be slow when they began. */
  readonly #slowRunning = new Set<Question>();
  readonly #slowHosts = new BoundedMap<string, true>(MAX_SLOW);
  /** When each was slow last. */
  readonly #slowWorkspaces = new BoundedMap<string, number>(MAX_SLOW);
  readonly #nowMs: () => number;

  /** @param nowMs a monotonic clock. */
  constructor(nowMs = (): number => performance.now()) {
    this.#nowMs = nowMs;
  }

  /** Asks when there is a slot. @throws as `ask` does; with the code `EAI_AGAIN` if there is none in time. */
  async run<Answer>(question: Question, ask: () => Promise<Answer>): Promise<Answer> {
    if (this.#hasSlot(question)) this.#begin(question);
    else await this.#wait(question);
    const startedAt = this.#nowMs();
    try {
      return await ask();
    } finally {
      this.#running.delete(question);
      this.#slowRunning.delete(question);
      this.#note(question, this.#nowMs() - startedAt > SLOW_MS);
      this.#moveBack(question.workspace);
      this.#beginNext();
    }
  }

  #isSlow({ host, workspace }: Question): boolean {
    if (this.#slowHosts.has(host)) return true;
    const slowAt = workspace === null ? undefined : this.#slowWorkspaces.get(workspace);
    return slowAt !== undefined && this.#nowMs() - slowAt < SLOW_WORKSPACE_MS;
  }

  #hasSlot(question: Question): boolean {
    const { workspace } = question;
    if (this.#running.size >= SLOTS) return false;
    if (this.#isSlow(question) && this.#slowRunning.size >= HALF) return false;
    const own = workspace === null ? [] : [...this.#running].filter((each) => each.workspace === workspace);
    return own.length < HALF;
  }

  #begin(question: Question): void {
    this.#running.add(question);
    if (this.#isSlow(question)) this.#slowRunning.add(question);
  }

  #note({ host, workspace }: Question, wasSlow: boolean): void {
    if (!wasSlow) {
      this.#slowHosts.delete(host);
      return;
    }
    this.#slowHosts.set(host, true);
    if (workspace !== null) this.#slowWorkspaces.set(workspace, this.#nowMs());
  }

  /** Resolves when the question has a slot. */
  #wait(question: Question): Promise<void> {
    const { host, workspace } = question;
    const line = this.#lines.get(workspace) ?? [];
    if (line.length >= MAX_WAITING) throw noSlot(host);
    return new Promise((resolve, reject) => {
      const limit = setTimeout(() => {
        this.#leave(waiter);
        reject(noSlot(host));
      }, LONGEST_WAIT_MS);
      const begin = (): void => {
        clearTimeout(limit);
        this.#begin(question);
        resolve();
      };
      const waiter = { question, begin };
      line.push(waiter);
      this.#lines.set(workspace, line);
    });
  }

  #leave(waiter: Waiter): void {
    const { workspace } = waiter.question;
    const line = this.#lines.get(workspace) ?? [];
    line.splice(line.indexOf(waiter), 1);
    if (line.length === 0) this.#lines.delete(workspace);
  }

  #beginNext(): void {
    for (;;) {
      const waiter = this.#takeNext();
      if (waiter === undefined) return;
      waiter.begin();
    }
  }

  #takeNext(): Waiter | undefined {
    for (const [workspace, line] of this.#lines) {
      const at = line.findIndex((waiter) => this.#hasSlot(waiter.question));
      const [waiter] = at === -1 ? [] : line.splice(at, 1);
      if (waiter === undefined) continue;
      this.#moveBack(workspace);
      return waiter;
    }
    return undefined;
  }

  /** The others come before it now. */
  #moveBack(workspace: string | null): void {
    const line = this.#lines.get(workspace);
    if (line === undefined) return;
    this.#lines.delete(workspace);
    if (line.length > 0) this.#lines.set(workspace, line);
  }
}

function noSlot(host: string): Error {
  const message = `${host}: other names are looked up, and their servers take too long`;
  return Object.assign(new Error(message), { code: "EAI_AGAIN" });
}
