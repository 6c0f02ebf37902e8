import { sql } from "kysely";
import { type Database, query } from "./database.ts";

/**
 * How a server notices that another process changed what it holds in memory: every change to an endpoint, schema, key
 * or plan raises the version in the same transaction.
 */
export function raiseSettingsVersion(db: Database): void {
  db.run(query.updateTable("settings_version").set({ version: sql`version + 1` }));
}

/** Longest time between two looks at the file; revoking takes effect within a second everywhere. */
const CHECK_INTERVAL_MS = 200;

export interface ChangeListener {
  /** Another process committed something, of whatever kind. */
  onForeignCommit(): void;
  /** Another process changed settings. */
  onSettingsChange(): void;
  /** A newer version of the program changed the schema. Told once, and nothing else from then on. */
  onUpgrade(): void;
}

/** Notices other processes' commits, when asked to look. */
export interface ChangeWatch {
  /** Looks at most every 200 ms, whatever the rate of calls; costs two microseconds when it looks. */
  readonly noticeChanges: () => void;
  /** Whether another process has upgraded the database: nothing here fits it any more. */
  readonly isUpgraded: () => boolean;
}

export function watchChanges(db: Database, listeners: readonly ChangeListener[]): ChangeWatch {
  // The pragma's value changes when another connection commits, and costs no read of the file.
  const dataVersion = db.prepare("PRAGMA data_version").pluck();
  const settingsVersion = db.prepare("SELECT version FROM settings_version").pluck();
  const schemaVersion = db.prepare("PRAGMA user_version").pluck();
  const ownSchema = schemaVersion.get();
  let upgraded = false;
  let seenData = dataVersion.get();
  let seenSettings = settingsVersion.get();
  let lookedAt = performance.now();
  const lookAtFile = (): void => {
    const data = dataVersion.get();
    if (upgraded || data === seenData) return;
    if (schemaVersion.get() !== ownSchema) {
      upgraded = true;
      for (const listener of listeners) listener.onUpgrade();
      return;
    }
    // Both are read before either is taken as seen: a read that fails is made again.
    const settings = settingsVersion.get();
    seenData = data;
    for (const listener of listeners) listener.onForeignCommit();
    if (settings === seenSettings) return;
    seenSettings = settings;
    for (const listener of listeners) listener.onSettingsChange();
  };
  return {
    isUpgraded: () => upgraded,
    noticeChanges() {
      const now = performance.now();
      if (now - lookedAt < CHECK_INTERVAL_MS) return;
      lookedAt = now;
      db.read(lookAtFile);
    },
  };
}
