import { describe, expect, test } from "vitest";
import {
  COPIED_TABLES,
  copyTables,
  type TableReader,
  type TableWriter,
} from "../../src/database/copy-tables.ts";
import { query } from "../../src/database/database.ts";
import type { PostgresqlDatabase } from "../../src/database/postgresql/open-postgresql.ts";
import { join } from "../../src/database/postgresql/live-server-rows.ts";
import {
  fillPostgresqlTables,
  readPostgresqlTables,
} from "../../src/database/postgresql/postgresql-tables.ts";
import type { SqliteDatabase } from "../../src/database/sqlite/sqlite-database.ts";
import { fillSqliteTables, readSqliteTables } from "../../src/database/sqlite/sqlite-tables.ts";
import { all } from "../../src/database/steps.ts";
import { contentOf } from "../support/database-content.ts";
import { fillEveryTable } from "../support/full-database.ts";
import { temporaryDatabase } from "../support/temporary-database.ts";
import { hasPostgresql, temporaryPostgresql } from "../support/temporary-postgresql.ts";

const silently = (): void => undefined;

function up(from: SqliteDatabase, to: PostgresqlDatabase) {
  return readSqliteTables(from, (reader) =>
    fillPostgresqlTables(to, (writer) => copyTables(reader, writer, silently)),
  );
}

function down(from: PostgresqlDatabase, to: SqliteDatabase) {
  return readPostgresqlTables(from, (reader) =>
    fillSqliteTables(to, (writer) => copyTables(reader, writer, silently)),
  );
}

test("every table of a database is copied", async () => {
  const db = temporaryDatabase();
  const tables = db.prepare(
    "SELECT name FROM pragma_table_list WHERE schema = 'main' AND name NOT LIKE 'sqlite%'",
  );
  expect(new Set<unknown>(COPIED_TABLES)).toEqual(new Set(tables.pluck().all()));
});

describe.skipIf(!hasPostgresql)("a copy from one engine to the other", () => {
  test("and back has every row of every table, and the numbers go on behind those that were copied", async () => {
    const [from, between, back] = [temporaryDatabase(), await temporaryPostgresql(), temporaryDatabase()];
    await fillEveryTable(from);
    const content = await contentOf(from);
    expect(Object.entries(content).filter(([, rows]) => (rows as unknown[]).length === 0)).toEqual([]);
    const copied = await up(from, between);
    expect(copied.find(({ table }) => table === "submission")).toEqual({ table: "submission", rows: 40 });
    expect(await contentOf(between)).toEqual(content);
    await down(between, back);
    expect(await contentOf(back)).toEqual(content);
    const events = query
      .insertInto("audit_event")
      .values({ at: 1, action: "a.b", subject: "c" })
      .returning("id");
    for (const db of [between, back]) expect(await db.transaction(() => all(events))).toEqual([{ id: 2 }]);
  });

  test("leaves triggers at work: a further endpoint gets the next number, and held posts are counted on", async () => {
    const [from, to] = [temporaryDatabase(), await temporaryPostgresql()];
    const { workspaceId } = await fillEveryTable(from);
    await up(from, to);
    for (const db of [from, to]) {
      await db.transaction(() => all(query.deleteFrom("held").where("trapped", "=", 1).returning("id")));
    }
    expect(await contentOf(to)).toEqual(await contentOf(from));
    const totals = query.selectFrom("held_total").select("posts").where("workspace_id", "=", workspaceId);
    expect(await to.read(() => all(totals))).toEqual([{ posts: 6 }]);
  });

  test("is refused while a server works on the database that is to be filled", async () => {
    const [from, to] = [temporaryDatabase(), await temporaryPostgresql()];
    await to.withConnection((client) => join(client, "srv_1", to.name));
    await expect(up(from, to)).rejects.toMatchObject({ code: "server_running" });
  });

  test("is refused if anything is stored already, and leaves it as it is", async () => {
    const [from, to] = [temporaryDatabase(), await temporaryPostgresql()];
    await fillEveryTable(from);
    await fillEveryTable(to);
    const before = await contentOf(to);
    await expect(up(from, to)).rejects.toMatchObject({ code: "already_exists" });
    expect(await contentOf(to)).toEqual(before);
  });

  test("keeps nothing if the copy of one table differs from what was read", async () => {
    const [from, to] = [temporaryDatabase(), await temporaryPostgresql()];
    await fillEveryTable(from);
    const losing = (writer: TableWriter): TableWriter => ({
      ...writer,
      write: (table, columns, rows) =>
        writer.write(table, columns, table === "delivery" ? rows.slice(1) : rows),
    });
    const copying = readSqliteTables(from, (reader: TableReader) =>
      fillPostgresqlTables(to, (writer) => copyTables(reader, losing(writer), silently)),
    );
    await expect(copying).rejects.toThrow("the copy of the table delivery differs");
    expect(await contentOf(to)).toEqual(await contentOf(await temporaryPostgresql()));
  });

  test("stores a NUL, which PostgreSQL's text cannot have, as the sign for an unreadable character", async () => {
    const [from, to] = [temporaryDatabase(), await temporaryPostgresql()];
    await fillEveryTable(from);
    from.execute("UPDATE attempt SET answer = 'a' || char(0) || 'b'");
    await up(from, to);
    const answers = query.selectFrom("attempt").select("answer").distinct();
    expect(await to.read(() => all(answers))).toEqual([{ answer: "a\uFFFDb" }]);
  });
});
