import { BoundedMap } from "../foundation/bounded-map.ts";

/** The largest number of lookups at once: the process has two threads for them, and a lookup that has begun cannot be cancelled. */
const SLOTS = 2;
/** The slots that one workspace may have, and those that all slow lookups together may have. */
const HALF = SLOTS / 2;
/** A name whose lookup took longer than this counts as slow until its next lookup. */
const SLOW_MS = 1000;
/** The workspace of a slow name counts as slow for this time, because it may have any number of such names. */
const SLOW_WORKSPACE_MS = 600_000;
/** The largest number of slow names, and of slow workspaces, that are remembered. */
const MAX_SLOW = 1000;
/** The longest wait for a slot. It is the usual time limit of an attempt, and nobody needs the name after that. */
const LONGEST_WAIT_MS = 10_000;
/** The largest number of one workspace's lookups that wait; further ones fail at once. */
const MAX_WAITING = 200;

interface Question {
  readonly host: string;
  /** The workspace that the lookup is for; null if there is only one workspace. */
  readonly workspace: string | null;
}

interface Waiter {
  readonly question: Question;
  readonly begin: () => void;
}

/**
 * Shares out the slots for lookups of names. If there are several workspaces, one may have half of the slots, so that the other half stays
 * free while its name servers hang. Slow names, and all names of a workspace with a slow one, share half of the slots.
 */
export class LookupSlots {
  /** The lookups that wait, by workspace, in the order in which the workspaces get slots. No list is empty. */
  readonly #lines = new Map<string | null, Waiter[]>();
  readonly #running = new Set<Question>();
  /** The running lookups that counted as slow when they began. */
  readonly #slowRunning = new Set<Question>();
  readonly #slowHosts = new BoundedMap<string, true>(MAX_SLOW);
  /** When a lookup of each workspace was last slow. */
  readonly #slowWorkspaces = new BoundedMap<string, number>(MAX_SLOW);
  readonly #nowMs: () => number;

  /** @param nowMs a monotonic clock. */
  constructor(nowMs = (): number => performance.now()) {
    this.#nowMs = nowMs;
  }

  /** Runs `ask` when there is a slot. @throws as `ask` does; with the code `EAI_AGAIN` if there is no slot in time. */
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

  /** Puts a workspace behind the others. */
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
