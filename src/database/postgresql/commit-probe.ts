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
/** Posts can be stored if the last safe commit was at most this long ago. The probe tries one each second. */
const MAX_AGE_MS = 3000;
/** If a commit is not answered for this time, the probe asks the server whether it waits for a standby, and then again each second. */
const SILENCE_MS = 3000;
const ASK_AGAIN_MS = 1000;
/** A working standby answers within this time, so a commit that has waited longer counts as waiting for a lost one. */
const LONG_WAIT_MS = 1000;
/** Time between two looks whether a commit still waits for the standby. */
const LOOK_MS = 50;
/** The longest time that `confirm` waits for an answer of the standby. */
const CONFIRM_MS = 1000;
/** A snapshot in which no transaction is visible. */
const EMPTY_SNAPSHOT: SafeSnapshot = "1:1:";

/**
 * Commits each second in the same way as posts do, to find out whether commits are safe. It commits sooner if somebody must know whether
 * the standby has what they read. It waits for a commit as long as a standby is lost, because each further commit would occupy one more
 * connection of the server until the standby is back.
 */
export class CommitProbe implements Writability, Confirmations {
  readonly #connections: Connections;
  readonly #outcomes: Outcomes;
  readonly #shown: string;
  readonly #stopping = new AbortController();
  readonly #begun = Promise.withResolvers<void>();
  #running: Promise<void> | null = null;
  #safeAt = -Infinity;
  /** The time at which the commit was sent that waits for a standby, by `performance.now()`; null if none waits. */
  #waitsSince: number | null = null;
  /** Whether commits wait for a standby, according to the settings. */
  #isStandbyAwaited = true;
  /** What the standby has for certain, since the newest safe commit. */
  #safe = EMPTY_SNAPSHOT;
  /** The time at which the running commit was sent, by `performance.now()`; null if none runs. */
  #sentAt: number | null = null;
  /** Resolves when the next commit that will be sent is safe. */
  #next = Promise.withResolvers<void>();
  /** Is aborted to end the pause before the next commit. */
  #hurry = new AbortController();

  /** @param shown the name of the database in messages. */
  constructor(connections: Connections, outcomes: Outcomes, shown: string) {
    this.#connections = connections;
    this.#outcomes = outcomes;
    this.#shown = shown;
  }

  /** Resolves when the first commit was safe, or after three seconds, because a server may start while posts cannot be stored. */
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

  /** Time for which a commit has waited for a standby, in milliseconds; 0 if none waits, and during its first three seconds. */
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
   * Resolves when commits do not wait for a lost standby any more; undefined if they do not wait now.
   *
   * @throws database_unusable if that takes longer than `longestMs`.
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
    // Connects in advance: when commits wait, the server may have no free connection left.
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

  /**
   * Commits, and answers everybody who asked before the commit was sent. If the commit is not safe, they get the answer of the next one.
   */
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

  /** Commits. Returns whether the commit is safe; it is not if the server warns that somebody ended its wait for the standby. */
  async #commit(client: PoolClient, asking: PoolClient | null): Promise<boolean> {
    let isWarned = false;
    const listen = ({ code }: { readonly code?: string | undefined }): void => {
      // The code 00000 is that of messages that are no warnings.
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

  /**
   * Waits for a commit as long as it waits for a standby. @param asking a connection for questions to the server; null if there is none.
   */
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
   * Asks whether a commit has waited for the standby for long. It uses a connection of its own, because all others may be waiting. A short
   * wait does not count: on a busy server there always is one, even if the probe's own connection is dead.
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
