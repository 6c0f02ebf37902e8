import type { PoolClient } from "pg";
import type { Blindness, ChangeListener, Database, Head } from "../database.ts";
import { answerWithin, keepConnection, pause } from "./kept-connection.ts";
import { type Connections, isPooled } from "./connections.ts";
import { LIVE_SQL, OWN_SCHEMA } from "./live-server-rows.ts";
import type { Outcomes } from "./refusals.ts";
import {
  type ChangedSettings,
  changedSettings,
  readSettingsSince,
  SETTINGS_SQL,
  type SettingsChange,
} from "../settings-version.ts";
import { numberMarks } from "../number-parameters.ts";
import { LISTEN_SQL } from "./notify-servers.ts";

/** Time between two looks. */
const INTERVAL_MS = 250;
/** Remembered data counts as current for this time after a look was sent, so that a revoked key is refused everywhere within a second. */
const MAX_AGE_MS = 1000;
/** If a look is not answered within this time, its connection is closed. */
const SILENCE_MS = 2000;
const CHANGES_SQL = numberMarks(SETTINGS_SQL.changes);

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
  /** The newest version of the settings that was heard of; null before the first look. */
  #settings: number | null = null;
  /** The time at which it was heard of. */
  #heardAt = -Infinity;
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
      const [look] = rows;
      if (look !== undefined) {
        const changes = await this.#changesBefore(client, look);
        this.#take(look, changes, sentAt);
      }
      await pause(INTERVAL_MS, signal);
    }
  }

  /** Reads what changed up to a look. */
  async #changesBefore(client: PoolClient, { settings }: Look): Promise<readonly SettingsChange[]> {
    const { signal } = this.#stopping;
    if (this.#settings === null || this.#settings === settings) return [];
    const asked = client.query<SettingsChange>(CHANGES_SQL, [this.#settings]);
    return (await answerWithin(asked, SILENCE_MS, signal)).rows;
  }

  /** Looks at once at which settings this server changed. If that cannot be found out, anything may have changed. */
  async noticeOwn(db: Pick<Database, "read">): Promise<void> {
    const seen = this.#settings;
    try {
      const { version, changed } = await db.read(() => readSettingsSince(seen));
      // A look may have heard of more meanwhile.
      if (this.#settings === null || version > this.#settings) this.#hear(version, changed);
    } catch {
      this.#parts.listener.onSettingsChange(null);
    }
  }

  #hear(version: number, changed: ChangedSettings): void {
    this.#settings = version;
    this.#heardAt = performance.now();
    this.#parts.listener.onSettingsChange(changed);
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

  #takeSettings(version: number, changes: readonly SettingsChange[], sentAt: number): void {
    const known = this.#settings;
    if (version === known) return;
    // This server has heard of its own change since the look was sent.
    if (known !== null && version < known && sentAt < this.#heardAt) return;
    this.#hear(version, known === null ? null : changedSettings(changes, known, version));
  }

  /** Compares a look with the one before. The first look reports everything as changed, because nobody knows what changed before it. */
  #take(look: Look, changes: readonly SettingsChange[], sentAt: number): void {
    const { listener, heads } = this.#parts;
    const before = this.#seen;
    if (look.oldest > OWN_SCHEMA && !this.#isUpgraded) {
      this.#isUpgraded = true;
      listener.onUpgrade();
    }
    this.#takeSettings(look.settings, changes, sentAt);
    for (const [index, head] of heads.entries()) {
      if (before === null || look[`head_${index}`] !== before[`head_${index}`]) head.onChange();
    }
    this.#seen = look;
    this.#lookedAt = sentAt;
    this.#parts.outcomes.succeeded();
    this.#begun.resolve();
  }
}
