import type { AnyDatabase } from "./any-database.ts";
import { first, text } from "./steps.ts";
import { diskOf, sizesOf } from "./sqlite/database-health.ts";

/** The sizes of a database in bytes; `log` is null if the engine has no log beside the database. */
export interface DatabaseSize {
  readonly database: number;
  readonly log: number | null;
  /** The disk of the database; null if unknown, as for the disk of a database server. */
  readonly disk: { readonly bytes: number; readonly free: number } | null;
}

export async function readSize(db: AnyDatabase): Promise<DatabaseSize> {
  if (db.engine === "sqlite") return { ...sizesOf(db), disk: diskOf(db) };
  const found = await db.read(() =>
    first(text<{ bytes: number }>("SELECT pg_database_size(current_database()) AS bytes")),
  );
  return { database: found?.bytes ?? 0, log: null, disk: null };
}
