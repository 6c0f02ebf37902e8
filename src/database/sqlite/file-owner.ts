import type Driver from "better-sqlite3";
import { FormsvcError } from "../../foundation/errors.ts";

/** Marks the file as formsvc's in its header: "fsvc" in ASCII. */
export const APPLICATION_ID = 0x66737663;

/**
 * Checked before anything is set, so that another program's file stays as it was. Litestream's own tables do not show whose
 * file it is.
 *
 * @throws database_unusable if the file is not empty and lacks our mark.
 */
export function checkFileOwner(connection: Driver.Database): void {
  // The mark is read last: another process that creates the tables sets all three in one transaction.
  const version = connection.pragma("user_version", { simple: true });
  const tables = connection
    .prepare(
      "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE '\\_litestream%' ESCAPE '\\'",
    )
    .pluck()
    .get();
  const mark = connection.pragma("application_id", { simple: true });
  if (mark === APPLICATION_ID || (version === 0 && tables === 0 && mark === 0)) return;
  throw new FormsvcError("database_unusable", `${connection.name}: this is another program's database`);
}
