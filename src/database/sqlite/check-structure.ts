import { FormsvcError } from "../../foundation/errors.ts";
import { migrations, structure } from "../migrations.generated.ts";
import { compareStructure, type StatementSource, structureAfter } from "./structure.ts";

/**
 * The differences of a database from the structure that the migrations give its version, a clause each. Empty if there are none,
 * and for a newer version, which is not known here.
 */
export function findStructureDifferences(connection: StatementSource): string[] {
  const version = Number(connection.prepare("PRAGMA user_version").pluck().get());
  if (version > migrations.length) return [];
  // Building the newest structure from its migrations would take 6 ms of each start.
  const expected = version === migrations.length ? structure : structureAfter(migrations.slice(0, version));
  return compareStructure(connection, expected);
}

/**
 * A foreign trigger could delete acknowledged rows, and a missing table or column would fail only when it is used.
 *
 * @param shown how the message names the file.
 * @throws database_unusable naming what differs.
 */
export function requireStructure(connection: StatementSource, shown: string): void {
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
