import { join } from "node:path";
import { onTestFinished } from "vitest";
import { openDatabase } from "../../src/database/sqlite/open-database.ts";
import type { SqliteDatabase } from "../../src/database/sqlite/sqlite-database.ts";
import { migrate } from "../../src/database/migrate.ts";
import { copyFreshDatabase } from "./fresh-database.ts";
import { memoryFolder } from "./memory-folder.ts";
import { temporaryFolder } from "./temporary-folder.ts";

/** Makes a migrated database file in its own folder. It is removed after the test. */
export function temporaryDatabase(busyTimeoutMs = 5000): SqliteDatabase {
  const path = join(temporaryFolder(memoryFolder()), "formsvc.db");
  copyFreshDatabase(path);
  return openForTest(path, busyTimeoutMs);
}

/** Opens another connection, like another process. It is closed after the test. */
export function openForTest(path: string, busyTimeoutMs = 5000): SqliteDatabase {
  const db = openDatabase(path, { busyTimeoutMs });
  migrate(db);
  onTestFinished(() => db.close());
  return db;
}
