import { FormsvcError } from "../foundation/errors.ts";

/**
 * The refusal of a database that this program is too old for.
 *
 * @param shown the name of the database @param version the schema that the database needs @param known the latest schema of this program
 */
export function newerSchema(shown: string, version: number, known: number): FormsvcError {
  const message = `${shown}: made by a newer formsvc (schema ${version}; this one knows ${known}); install that version or newer`;
  return new FormsvcError("database_unusable", message);
}
