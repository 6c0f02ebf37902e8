import { FormsvcError } from "../../foundation/errors.ts";
import { migrations, structure } from "../migrations.generated.ts";
import { compareStructure, type StatementSource, structureAfter } from "./structure.ts";

/**
 * Returns the differences between the structure of a database and the structure that the migrations give its version, one clause each.
 * Empty if there are none, and for a newer version, which is unknown here.
 */
export function findStructureDifferences(connection: StatementSource): string[] {
  const version = Number(connection.prepare("PRAGMA user_version").pluck().get());
  if (version > migrations.length) return [];
  // Building the newest structure from its migrations would add 6 ms to each start.
  const expected = version === migrations.length ? structure : structureAfter(migrations.slice(0, version));
  return compareStructure(connection, expected);
}

/**
 * Checks the structure of a database. A foreign trigger could delete acknowledged rows, and a missing table or column would cause an error
 * only when it is used.
 *
 * @param shown the name of the file in the message.
 * @throws database_unusable naming the differences.
 */
export function requireStructure(connection: StatementSource, shown: string): void {
  refuseDifferences(findStructureDifferences(connection), shown);
}

/** @throws database_unusable naming the differences, if there are any. */
export function refuseDifferences(differences: readonly string[], shown: string): void {
  if (differences.length === 0) return;
  throw new FormsvcError(
    "database_unusable",
    `${shown}: its structure is not a formsvc database's: ${differences.join("; ")}; ` +
      "undo that with sqlite3, or restore a sound backup",
  );
}
