import type { AnyDatabase } from "./any-database.ts";
import { first, text } from "./steps.ts";
import { diskOf, sizesOf } from "./sqlite/database-health.ts";

/** Bytes of a database; `log` is null if the engine keeps none beside it. */
export interface DatabaseSize {
  readonly database: number;
  readonly log: number | null;
  /** The disk that it is on; null if that cannot be seen, as a database server's. */
  readonly disk: { readonly bytes: number; readonly free: number } | null;
}

export async function readSize(db: AnyDatabase): Promise<DatabaseSize> {
  if (db.engine === "sqlite") return { ...sizesOf(db), disk: diskOf(db) };
  const found = await db.read(() =>
    first(text<{ bytes: number }>("SELECT pg_database_size(current_database()) AS bytes")),
  );
  return { database: found?.bytes ?? 0, log: null, disk: null };
}
