import type { ChangeListener, ChangeWatch } from "../database.ts";
import type { SqliteDatabase } from "./sqlite-database.ts";

/** The longest time between two looks at the file, so that a revoked key is refused everywhere within a second. */
const CHECK_INTERVAL_MS = 200;

export function watchChanges(db: SqliteDatabase, listeners: readonly ChangeListener[]): ChangeWatch {
  // The value of this pragma changes when another connection commits, and costs no read of the file.
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
    // Both values are read before either counts as seen, so that a failed read is repeated.
    const settings = settingsVersion.get();
    seenData = data;
    for (const listener of listeners) listener.onForeignCommit();
    if (settings === seenSettings) return;
    seenSettings = settings;
    for (const listener of listeners) listener.onSettingsChange();
  };
  return {
    blindness: () => (upgraded ? "upgraded" : null),
    noticeChanges() {
      const now = performance.now();
      if (now - lookedAt < CHECK_INTERVAL_MS) return;
      lookedAt = now;
      db.readNow(lookAtFile);
    },
  };
}
