import { lstatSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { FormsvcError } from "../foundation/errors.ts";

/**
 * Refuses a file of another user if root runs this and did not name the file. The owner of the folder may have put it there: a
 * configuration that makes root write elsewhere, or a link in place of a database.
 *
 * @throws usage if the file, the target of a link or the folder belongs to another user
 */
export function refuseForeignOwner(file: string, what: "configuration" | "database"): void {
  if (process.getuid?.() !== 0) return;
  const path = resolve(file);
  const found = [statSync(dirname(path), QUIETLY), lstatSync(path, QUIETLY), statSync(path, QUIETLY)];
  const owner = found.map((stats) => stats?.uid ?? 0).find((uid) => uid !== 0);
  if (owner === undefined) return;
  throw new FormsvcError(
    "usage",
    `${path}: root does not use it unnamed, because it or its folder belongs to user ${owner}`,
    { hint: { kind: "name_foreign_file", what, path } },
  );
}

const QUIETLY = { throwIfNoEntry: false } as const;
