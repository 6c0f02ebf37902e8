import { FormsvcError } from "../../foundation/errors.ts";
import { migrations, structure } from "../migrations.generated.ts";
import { compareStructure, type Connection, structureAfter } from "./structure.ts";

/**
 * In what a database is not as this program's migrations make its version, a clause each; empty if it is, and for a newer
 * version, which is not known here.
 */
export function findStructureDifferences(connection: Connection): string[] {
  const version = Number(connection.prepare("PRAGMA user_version").pluck().get());
  if (version > migrations.length) return [];
  // Building the newest one from its migrations would take 6 ms of each start.
  const expected = version === migrations.length ? structure : structureAfter(migrations.slice(0, version));
  return compareStructure(connection, expected);
}

/**
 * A trigger could delete what was acknowledged, and a missing table or column would fail only once it is used.
 *
 * @param shown how the message names the file.
 * @throws database_unusable naming what differs.
 */
export function requireStructure(connection: Connection, shown: string): void {
  refuseDifferences(findStructureDifferences(connection), shown);
}

/** @throws database_unusable naming them, if there are any. */
export function refuseDifferences(differences: readonly string[], shown: string): void {
  if (differences.length === 0) return;
  throw new FormsvcError(
    "database_unusable",
    `${shown}: its structure is not a formsvc database's: ${differences.join("; ")}; ` +
      "undo that with sqlite3, or restore a sound backup",
  );
}
