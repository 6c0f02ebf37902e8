import type { PostgresqlDatabase } from "./postgresql/open-postgresql.ts";
import type { SqliteDatabase } from "./sqlite/sqlite-database.ts";

/** A database of either engine, for code that administers it. */
export type AnyDatabase = SqliteDatabase | PostgresqlDatabase;
