import { ts } from "@ts-morph/common";
import { expect, test } from "vitest";
import { temporaryDatabase } from "../support/temporary-database.ts";
import { all, text } from "../../src/database/steps.ts";
import { hasPostgresql, temporaryPostgresql } from "../support/temporary-postgresql.ts";
import { readText } from "../tidy/repository.ts";

/** Columns by table and name: `TEXT`, `INTEGER NULL`. */
type Columns = Record<string, Record<string, string>>;

const TYPE_FILE = "src/database/tables.generated.ts";

/** The columns that the row types name. */
function columnsOfTypes(text: string): Columns {
  const source = ts.createSourceFile("tables.ts", text, ts.ScriptTarget.Latest, true);
  const declared = source.statements.find(ts.isInterfaceDeclaration);
  const tables = declared === undefined ? [] : [...declared.members];
  return Object.fromEntries(
    tables.filter(ts.isPropertySignature).map(({ name, type }) => {
      const columns = type && ts.isTypeLiteralNode(type) ? type.members.filter(ts.isPropertySignature) : [];
      const types = columns.map((column) => [column.name.getText(), sqlOf(column.type?.getText() ?? "")]);
      return [name.getText(), Object.fromEntries(types)];
    }),
  );
}

/** What a column is in SQL by its type in TypeScript. */
function sqlOf(type: string): string {
  const inner = /^Generated<(.*)>$/.exec(type)?.[1] ?? type;
  const parts = inner.split("|").map((part) => part.trim());
  const kinds = new Set(
    parts.filter((part) => part !== "null").map((part) => KINDS.get(part) ?? kindOf(part)),
  );
  return `${[...kinds].join(" or ")}${parts.includes("null") ? " NULL" : ""}`;
}

const KINDS = new Map([
  ["string", "TEXT"],
  ["number", "INTEGER"],
  ["Buffer", "BLOB"],
]);

function kindOf(part: string): string {
  return part.startsWith('"') ? "TEXT" : `unknown: ${part}`;
}

interface Column {
  readonly table: string;
  readonly name: string;
  readonly type: string;
  readonly notnull: number;
  readonly pk: number;
}

/** PostgreSQL's types by what they are in SQLite. */
const TYPES = new Map([
  ["text", "TEXT"],
  ["smallint", "INTEGER"],
  ["integer", "INTEGER"],
  ["bigint", "INTEGER"],
  ["bytea", "BLOB"],
]);

async function columnsOfPostgresql(): Promise<Columns> {
  const db = await temporaryPostgresql();
  const found = await db.read(() =>
    all(
      text<{ table: string; name: string; type: string; nullable: string; collation: string | null }>(
        `SELECT table_name AS "table", column_name AS name, data_type AS type, is_nullable AS nullable,
           collation_name AS collation
         FROM information_schema.columns WHERE table_schema = current_schema()`,
      ),
    ),
  );
  const columns: Columns = {};
  for (const { table, name, type, nullable, collation } of found) {
    const known =
      type === "text" && collation !== "C" ? `text in the collation ${collation}` : TYPES.get(type);
    columns[table] ??= {};
    columns[table][name] = `${known ?? type}${nullable === "YES" ? " NULL" : ""}`;
  }
  return columns;
}

function columnsOfFile(): Columns {
  const found = temporaryDatabase()
    .prepare(
      `SELECT t.name AS "table", c.name, c.type, c."notnull", c.pk FROM pragma_table_list t, pragma_table_info(t.name) c
       WHERE t.schema = 'main' AND t.type = 'table' AND t.name NOT LIKE 'sqlite%'`,
    )
    .all() as Column[];
  const columns: Columns = {};
  for (const { table, name, type, notnull, pk } of found) {
    columns[table] ??= {};
    columns[table][name] = notnull === 1 || pk > 0 ? type : `${type} NULL`;
  }
  return columns;
}

test("the row types are the tables of the file: every table, every column, its type and whether it may be null", () => {
  const { text } = readText(TYPE_FILE);
  expect(columnsOfTypes(text)).toEqual(columnsOfFile());
  const wrong = text.replace("spam_version: number;", "spam_version: string | null;");
  expect(columnsOfTypes(wrong)["submission"]?.["spam_version"]).toBe("TEXT NULL");
});

test.skipIf(!hasPostgresql)(
  "PostgreSQL has the same tables and columns, text in bytes' order, and its own for commits, versions, several servers and earlier ones",
  async () => {
    const {
      submission,
      audit_event,
      delivery,
      outbox,
      schema_version,
      live_server,
      rate_window,
      ignored_redirect,
      ...others
    } = await columnsOfPostgresql();
    const file = columnsOfFile();
    const {
      submission: submissionOfFile,
      audit_event: changeOfFile,
      delivery: deliveryOfFile,
      outbox: outboxOfFile,
      ...expected
    } = file;
    expect(others).toEqual(expected);
    const { stored_by, ...columns } = submission ?? {};
    expect({ seq: "INTEGER", ...columns }).toEqual(submissionOfFile);
    const { stored_by: changed_by, ...columnsOfChange } = audit_event ?? {};
    expect({ ...columnsOfChange, stored_after: "INTEGER" }).toEqual(changeOfFile);
    expect(changed_by).toBe("xid8");
    const { claimed_by, ...columnsOfDelivery } = delivery ?? {};
    expect(columnsOfDelivery).toEqual(deliveryOfFile);
    const { claimed_by: sender, ...columnsOfOutbox } = outbox ?? {};
    expect(columnsOfOutbox).toEqual(outboxOfFile);
    expect([stored_by, claimed_by, sender]).toEqual(["xid8", "TEXT NULL", "TEXT NULL"]);
    const own = [schema_version, live_server, rate_window, ignored_redirect];
    expect(own.map((table) => Object.keys(table ?? {}).toSorted())).toEqual([
      ["id", "oldest_program", "version"],
      ["id", "program", "schema_version", "seen_at", "started_at"],
      ["changed_at", "ends_at", "unit", "used"],
      ["endpoint_id", "origin", "seen_at"],
    ]);
  },
);
