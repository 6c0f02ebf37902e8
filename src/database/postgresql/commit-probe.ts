import type { PoolClient } from "pg";
import { FormsvcError } from "../../foundation/errors.ts";
import type { Confirmations, SafeSnapshot } from "../confirmations.ts";
import type { Writability } from "../served-database.ts";
import type { Connections } from "./connections.ts";
import type { Outcomes } from "./refusals.ts";
import { STANDBY_WAIT_SQL, type StandbyWait } from "./standbys.ts";
import { answerWithin, destroy, keepConnection, pause } from "./kept-connection.ts";
import { CONFIRM_SQL, type Seen } from "./write-mark.ts";

const INTERVAL_MS = 1000;
/** Posts can be stored if a commit was safe this time ago: one is tried each second. */
const MAX_AGE_MS = 3000;
/** After this silence, and then each second, the server is asked whether the commit waits for a standby. */
const SILENCE_MS = 3000;
const ASK_AGAIN_MS = 1000;
/** A sound standby answers sooner; whoever asks has waited longer. */
const LONG_WAIT_MS = 1000;
/** Time between two looks of who waits for the standby. */
const LOOK_MS = 50;
/** Longest wait of who asks whether the standby has what was read. */
const CONFIRM_MS = 1000;
/** Sees nothing. */
const EMPTY_SNAPSHOT: SafeSnapshot = "1:1:";

/**
 * Makes a commit each second that is as safe as that of a post, and sooner if somebody must know whether what was read is on the standby.
 * A commit that waits for a lost standby is waited for as long as it takes: each new one would hold one more connection of the
 * server's until the standby is back.
 */
export class CommitProbe implements Writability, Confirmations {
  readonly #connections: Connections;
  readonly #outcomes: Outcomes;
  readonly #shown: string;
  readonly #stopping = new AbortController();
  readonly #begun = Promise.withResolvers<void>();
  #running: Promise<void> | null = null;
  #safeAt = -Infinity;
  /** When the commit was sent that waits for a standby; null if none does. */
  #waitsSince: number | null = null;
  /** Whether commits wait for a standby, by the settings. */
  #isStandbyAwaited = true;
  /** What the standby has, as the newest commit tells that it had. */
  #safe = EMPTY_SNAPSHOT;
  /** When the commit under way was sent; null between two of them. */
  #sentAt: number | null = null;
  /** Resolves with the next commit that is sent. */
  #next = Promise.withResolvers<void>();
  /** Aborted to end the pause before it. */
  #hurry = new AbortController();

  /** @param shown how messages name the database. */
  constructor(connections: Connections, outcomes: Outcomes, shown: string) {
    this.#connections = connections;
    this.#outcomes = outcomes;
    this.#shown = shown;
  }

  /** Resolves when the first commit was safe, or after three seconds: a server may start while posts cannot be stored. */
  async begin(): Promise<void> {
    const { signal } = this.#stopping;
    this.#running = keepConnection({
      connections: this.#connections,
      signal,
      run: (client) => this.#probe(client),
      outcomes: this.#outcomes,
    });
    await answerWithin(this.#begun.promise, SILENCE_MS, signal).catch(() => undefined);
  }

  report(worked: boolean): void {
    this.#safeAt = worked ? performance.now() : -Infinity;
    if (worked) this.#begun.resolve();
  }

  isWritable(): boolean {
    return performance.now() - this.#safeAt < MAX_AGE_MS;
  }

  awaitsStandby(): boolean {
    return this.#waitsSince !== null;
  }

  /** How long a commit has waited for a standby; 0 if none does, and for the first three seconds. */
  standbyWaitMs(): number {
    return this.#waitsSince === null ? 0 : performance.now() - this.#waitsSince;
  }

  async confirm(): Promise<SafeSnapshot | null> {
    if (!this.#isStandbyAwaited) return null;
    if (this.#sentAt !== null && performance.now() - this.#sentAt > CONFIRM_MS) return this.#safe;
    const { promise } = this.#next;
    this.#hurry.abort();
    try {
      await answerWithin(promise, CONFIRM_MS, this.#stopping.signal);
      return null;
    } catch {
      return this.#safe;
    }
  }

  /**
   * Resolves when no commit waits for a lost standby any more; undefined if none does.
   *
   * @throws database_unusable if that takes longer.
   */
  whenStandbyIsBack(longestMs: number): Promise<void> | undefined {
    return this.#waitsSince === null ? undefined : this.#untilStandbyIsBack(longestMs);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  async #untilStandbyIsBack(longestMs: number): Promise<void> {
    const { signal } = this.#stopping;
    const endsAt = performance.now() + longestMs;
    while (this.#waitsSince !== null) {
      if (signal.aborted || performance.now() > endsAt) {
        const message = `${this.#shown}: commits wait for a synchronous standby that is not there`;
        throw new FormsvcError("database_unusable", message, { retryAfterSeconds: 5 });
      }
      await pause(LOOK_MS, signal);
    }
  }

  async #probe(client: PoolClient): Promise<void> {
    const { signal } = this.#stopping;
    // Made before it is needed: when commits wait, the server may have none left.
    const asking = await this.#connections.take().catch(() => null);
    try {
      while (!signal.aborted) {
        this.#hurry = new AbortController();
        if (!(await this.#commitForAll(client, asking))) {
          await pause(LOOK_MS, signal);
          continue;
        }
        this.report(true);
        this.#outcomes.succeeded();
        this.#waitsSince = null;
        await pause(INTERVAL_MS, AbortSignal.any([signal, this.#hurry.signal]));
      }
    } finally {
      this.#waitsSince = null;
      this.#sentAt = null;
      if (asking !== null) destroy(asking);
    }
  }

  /** Tells whoever asked before it was sent; if it is not safe, they wait for the next one. */
  async #commitForAll(client: PoolClient, asking: PoolClient | null): Promise<boolean> {
    const asked = this.#next;
    this.#next = Promise.withResolvers();
    let isSafe = false;
    try {
      isSafe = await this.#commit(client, asking);
    } finally {
      if (isSafe) asked.resolve();
      else void this.#next.promise.then(asked.resolve);
    }
    return isSafe;
  }

  /** Returns whether the commit is safe: the server warns if somebody ended its wait for the standby. */
  async #commit(client: PoolClient, asking: PoolClient | null): Promise<boolean> {
    let isWarned = false;
    const listen = ({ code }: { readonly code?: string | undefined }): void => {
      // This is the code of what is no warning.
      if (code !== "00000") isWarned = true;
    };
    this.#sentAt = performance.now();
    client.on("notice", listen);
    try {
      const answer = client.query<Seen>(CONFIRM_SQL);
      await this.#patiently(answer, asking);
      const [seen] = (await answer).rows;
      if (isWarned || seen === undefined) return false;
      this.#safe = seen.snapshot;
      this.#isStandbyAwaited = seen.isStandbyAwaited;
      return true;
    } finally {
      client.off("notice", listen);
      this.#sentAt = null;
    }
  }

  /** @param asking the connection for questions; null if there was none. */
  async #patiently(commit: Promise<unknown>, asking: PoolClient | null): Promise<void> {
    const { signal } = this.#stopping;
    const sentAt = performance.now();
    let isOver = false;
    const answered = commit.finally(() => {
      isOver = true;
    });
    for (let longestMs = SILENCE_MS; ; longestMs = ASK_AGAIN_MS) {
      try {
        await answerWithin(answered, longestMs, signal);
        return;
      } catch (error) {
        if (isOver || signal.aborted || !(await this.#hasWaiting(asking))) throw error;
        this.#waitsSince = sentAt;
      }
    }
  }

  /**
   * Over a connection of its own: all others may be waiting. A commit that waits for a moment says nothing: on a busy server there is always
   * one, also when the probe's own connection is dead.
   */
  async #hasWaiting(asking: PoolClient | null): Promise<boolean> {
    let client = asking;
    try {
      client ??= await this.#connections.take();
      const asked = client.query<StandbyWait>(STANDBY_WAIT_SQL);
      const { rows } = await answerWithin(asked, SILENCE_MS, this.#stopping.signal);
      return (rows[0]?.waitMs ?? 0) >= LONG_WAIT_MS;
    } catch {
      return false;
    } finally {
      if (client !== null && client !== asking) destroy(client);
    }
  }
}
