import type { PoolClient } from "pg";
import type { Blindness, ChangeListener, Head } from "../database.ts";
import { answerWithin, keepConnection, pause } from "./kept-connection.ts";
import { type Connections, isPooled } from "./connections.ts";
import { LIVE_SQL, OWN_SCHEMA } from "./live-server-rows.ts";
import type { Outcomes } from "./refusals.ts";
import { LISTEN_SQL } from "./notify-servers.ts";

/** Time between two looks. */
const INTERVAL_MS = 250;
/** Remembered data counts as current for this time after a look was sent, so that a revoked key is refused everywhere within a second. */
const MAX_AGE_MS = 1000;
/** If a look is not answered within this time, its connection is closed. */
const SILENCE_MS = 2000;

export interface PulseParts {
  readonly connections: Connections;
  readonly self: string;
  readonly listener: ChangeListener;
  readonly heads: readonly Head[];
  readonly outcomes: Outcomes;
}

/** The result of one look; `head_0` and so on are the values of the heads. */
interface Look extends Readonly<Record<string, unknown>> {
  readonly settings: number;
  readonly oldest: number;
  readonly servers: readonly string[];
}

/** Looks four times a second at what other servers changed, in one statement. */
export class Pulse {
  readonly #parts: PulseParts;
  readonly #sql: string;
  readonly #stopping = new AbortController();
  #running: Promise<void> | null = null;
  #seen: Look | null = null;
  /** The time at which the newest answered look was sent, by `performance.now()`. */
  #lookedAt = -Infinity;
  #isUpgraded = false;
  readonly #begun = Promise.withResolvers<void>();

  constructor(parts: PulseParts) {
    this.#parts = parts;
    const heads = parts.heads.map(({ sql }, index) => `, (${sql})::text AS head_${index}`);
    this.#sql = `SELECT (SELECT version FROM settings_version) AS settings, oldest_program AS oldest,
      ARRAY(${LIVE_SQL}) AS servers ${heads.join("")} FROM schema_version`;
  }

  /** Why it is unknown whether a key is still valid; null if it is known. */
  blindness(): Blindness | null {
    if (this.#isUpgraded) return "upgraded";
    return this.ageMs() > MAX_AGE_MS ? "unheard" : null;
  }

  /** Resolves when the first look was answered. @throws if that takes longer than `longestMs`. */
  async begin(longestMs: number): Promise<void> {
    const { signal } = this.#stopping;
    const run = (client: PoolClient): Promise<void> => this.#follow(client);
    this.#running = keepConnection({ ...this.#parts, signal, run });
    await answerWithin(this.#begun.promise, longestMs, this.#stopping.signal);
  }

  ageMs(): number {
    return performance.now() - this.#lookedAt;
  }

  /** The live servers. Empty while the database does not answer, and if this server counts as lost, so that it takes on no work. */
  servers(): readonly string[] {
    const servers = this.ageMs() > MAX_AGE_MS ? [] : (this.#seen?.servers ?? []);
    return servers.includes(this.#parts.self) ? servers : [];
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  async #follow(client: PoolClient): Promise<void> {
    const { signal } = this.#stopping;
    this.#listen(client);
    while (!signal.aborted) {
      const sentAt = performance.now();
      const { rows } = await answerWithin(client.query<Look>(this.#sql), SILENCE_MS, signal);
      if (rows[0] !== undefined) this.#take(rows[0], sentAt);
      await pause(INTERVAL_MS, signal);
    }
  }

  /** Subscribes to notifications, but not behind a pooler, where the next statement may have another session. */
  #listen(client: PoolClient): void {
    if (isPooled(client)) return;
    const { self, heads } = this.#parts;
    const notified = heads.filter(({ isNotified }) => isNotified);
    client.on("notification", ({ payload: from }) => {
      if (from !== self) for (const head of notified) head.onChange();
    });
    // It is sent together with a look. The answer to the look shows whether the connection works.
    client.query(LISTEN_SQL).catch(() => undefined);
  }

  /** Compares a look with the one before. The first look reports everything as changed, because nobody knows what changed before it. */
  #take(look: Look, sentAt: number): void {
    const { listener, heads } = this.#parts;
    const before = this.#seen;
    if (look.oldest > OWN_SCHEMA && !this.#isUpgraded) {
      this.#isUpgraded = true;
      listener.onUpgrade();
    }
    if (look.settings !== before?.settings) listener.onSettingsChange();
    for (const [index, head] of heads.entries()) {
      if (before === null || look[`head_${index}`] !== before[`head_${index}`]) head.onChange();
    }
    this.#seen = look;
    this.#lookedAt = sentAt;
    this.#parts.outcomes.succeeded();
    this.#begun.resolve();
  }
}
