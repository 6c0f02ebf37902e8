import type { ChangeListener, ChangeWatch } from "../database.ts";
import { readSettingsSince } from "../settings-version.ts";
import type { SqliteDatabase } from "./sqlite-database.ts";

/** The longest time between two looks at the file, so that a revoked key is refused everywhere within a second. */
const CHECK_INTERVAL_MS = 200;

export function watchChanges(db: SqliteDatabase, listeners: readonly ChangeListener[]): ChangeWatch {
  // The value of this pragma changes when another connection commits, and costs no read of the file.
  const dataVersion = db.prepare("PRAGMA data_version").pluck();
  const schemaVersion = db.prepare("PRAGMA user_version").pluck();
  const ownSchema = schemaVersion.get();
  let upgraded = false;
  let seenData = dataVersion.get();
  let seenSettings = db.now(() => readSettingsSince(null)).version;
  let lookedAt = performance.now();
  const readNow = () => db.now(() => readSettingsSince(seenSettings));
  const takeSettings = ({ version, changed }: ReturnType<typeof readNow>): void => {
    if (version === seenSettings) return;
    seenSettings = version;
    for (const listener of listeners) listener.onSettingsChange(changed);
  };
  const lookAtFile = (): void => {
    const data = dataVersion.get();
    if (upgraded || data === seenData) return;
    if (schemaVersion.get() !== ownSchema) {
      upgraded = true;
      for (const listener of listeners) listener.onUpgrade();
      return;
    }
    // Both values are read before either counts as seen, so that a failed read is repeated.
    const settings = readNow();
    seenData = data;
    for (const listener of listeners) listener.onForeignCommit();
    takeSettings(settings);
  };
  return {
    blindness: () => (upgraded ? "upgraded" : null),
    noticeOwn: () => takeSettings(readNow()),
    noticeChanges() {
      const now = performance.now();
      if (now - lookedAt < CHECK_INTERVAL_MS) return;
      lookedAt = now;
      db.readNow(lookAtFile);
    },
  };
}
