import Driver from "better-sqlite3";

/** A table, index, trigger or view, as `sqlite_schema` has it. */
export interface SchemaPart {
  readonly type: string;
  readonly name: string;
  readonly sql: string;
}

/** A connection of the driver, or a `SqliteDatabase`. */
export interface StatementSource {
  prepare(sql: string): Driver.Statement;
}

/** The largest number of differences that are named; a foreign file may have hundreds. */
const MAX_NAMED = 5;
/**
 * The order in which differences are named: a missing table explains its missing indexes and triggers, and a foreign trigger is worse than
 * a missing one.
 */
const ORDER = ["table", "view", "trigger", "column", "index"];

/**
 * SQLite's internal tables and Litestream's: columns and nothing else. A virtual table, or an expression that is computed when the table is
 * read or checked, is in parentheses or begins otherwise, whatever its name.
 */
const OTHERS_TABLE = /^CREATE TABLE "?(?:sqlite|_litestream)_\w+"? ?\([^()]*\)$/;

/** Reads the structure, in an order in which it can be created, without SQLite's internal tables and Litestream's tables. */
export function readStructure(connection: StatementSource): SchemaPart[] {
  const parts = connection
    .prepare(
      "SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY type <> 'table', type, name",
    )
    .all() as SchemaPart[];
  return parts.filter(({ sql }) => !OTHERS_TABLE.test(sql));
}

/** Builds the structure of a new database after these migrations. */
export function structureAfter(migrations: readonly { readonly sql: string }[]): SchemaPart[] {
  const connection = new Driver(":memory:");
  try {
    for (const { sql } of migrations) connection.exec(sql);
    return readStructure(connection);
  } finally {
    connection.close();
  }
}

/** Returns the differences between a database and the expected structure, one clause each; empty if there are none. */
export function compareStructure(connection: StatementSource, expected: readonly SchemaPart[]): string[] {
  const found = new Map(readStructure(connection).map((part) => [keyOf(part), part]));
  const differences = expected.flatMap((part) => {
    const own = found.get(keyOf(part));
    found.delete(keyOf(part));
    if (own === undefined) return [`${keyOf(part)} is missing`];
    return isSameSql(own.sql, part.sql) ? [] : describeDifference(connection, part);
  });
  const strange = [...found.keys()].map((key) => `${key} is unknown`);
  const all = [...strange, ...differences].toSorted((one, other) => rankOf(one) - rankOf(other));
  return all.length <= MAX_NAMED ? all : [...all.slice(0, MAX_NAMED), `and ${all.length - MAX_NAMED} more`];
}

function rankOf(difference: string): number {
  return ORDER.findIndex((type) => difference.startsWith(type));
}

function keyOf({ type, name }: SchemaPart): string {
  return `${type} ${name}`;
}

function describeDifference(connection: StatementSource, expected: SchemaPart): string[] {
  const { type, name } = expected;
  const changed = [`${type} ${name} is changed`];
  if (type !== "table") return changed;
  const own = columnsOf(connection, name);
  const ours = expectedColumns(expected);
  const differences = [
    ...ours.filter((column) => !own.includes(column)).map((column) => `column ${name}.${column} is missing`),
    ...own.filter((column) => !ours.includes(column)).map((column) => `column ${name}.${column} is unknown`),
  ];
  return differences.length > 0 ? differences : changed;
}

function expectedColumns({ name, sql }: SchemaPart): string[] {
  const model = new Driver(":memory:");
  try {
    model.exec(sql);
    return columnsOf(model, name);
  } finally {
    model.close();
  }
}

function columnsOf(connection: StatementSource, table: string): string[] {
  return connection.prepare("SELECT name FROM pragma_table_xinfo(?)").pluck().all(table) as string[];
}

/** Compares two statements. Versions of SQLite differ in the spaces and quotes that they write when a table is altered. */
function isSameSql(one: string, other: string): boolean {
  return one === other || wordsOf(one) === wordsOf(other);
}

/** Matches a text, a quoted name, one of two kinds of comments, white space, a word, or any other character. */
const TOKEN = /'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|\/\*[^]*?\*\/|\s+|\w+|[^]/g;

/** The statement without comments, spaces, and the quotes around plain names. */
function wordsOf(sql: string): string {
  const words = (sql.match(TOKEN) ?? []).filter((token) => !/^(?:--|\/\*|\s)/.test(token));
  return words.map((word) => word.replace(/^"(\w+)"$/, "$1")).join(" ");
}
