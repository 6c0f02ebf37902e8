import SqliteDatabase from "better-sqlite3";
import { migrations } from "../../src/database/migrations.generated.ts";

/** Empty databases by schema version. A missing one is made from the one before it. */
const empties: Buffer[] = [];

/** Returns the bytes of a database without rows, at an earlier schema version. */
export function emptyOfVersion(version: number): Buffer {
  for (const { sql } of migrations.slice(empties.length, version)) {
    const connection = new SqliteDatabase(empties.at(-1) ?? ":memory:");
    connection.exec(sql);
    empties.push(connection.serialize());
    connection.close();
  }
  return empties[version - 1] ?? Buffer.alloc(0);
}
