import type Driver from "better-sqlite3";
import { FormsvcError } from "../../foundation/errors.ts";

/** The mark in the header of formsvc's files: "fsvc" in ASCII. */
export const APPLICATION_ID = 0x66737663;

/**
 * Checks that a file belongs to formsvc, before any setting is changed, so that another program's file stays as it was. Litestream's own
 * tables are ignored, because any program's file may have them.
 *
 * @throws database_unusable if the file is not empty and does not have our mark.
 */
export function checkFileOwner(connection: Driver.Database): void {
  // The mark is read last, because another process that creates the tables sets all three in one transaction.
  const version = connection.pragma("user_version", { simple: true });
  const tables = connection
    .prepare(
      "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE '\\_litestream%' ESCAPE '\\'",
    )
    .pluck()
    .get();
  const mark = connection.pragma("application_id", { simple: true });
  if (mark === APPLICATION_ID || (version === 0 && tables === 0 && mark === 0)) return;
  throw new FormsvcError(
    "database_unusable",
    `${connection.name}: this is another program's database; name the right one`,
  );
}
