import type { AnyDatabase } from "./any-database.ts";
import { first, text } from "./steps.ts";
import { sizesOf } from "./sqlite/database-health.ts";

/** Bytes of a database; `log` is null if the engine keeps none beside it. */
export interface DatabaseSize {
  readonly database: number;
  readonly log: number | null;
}

export async function readSize(db: AnyDatabase): Promise<DatabaseSize> {
  if (db.engine === "sqlite") return sizesOf(db);
  const found = await db.read(() =>
    first(text<{ bytes: number }>("SELECT pg_database_size(current_database()) AS bytes")),
  );
  return { database: found?.bytes ?? 0, log: null };
}
