import { join } from "node:path";
import type { SqliteDatabase } from "../../src/database/sqlite/sqlite-database.ts";
import type { OperatorMachine } from "./operator-machine.ts";
import { openForTest } from "./temporary-database.ts";

/** The number of pairs of copies made so far. Each pair has its own files. */
let made = 0;

const ID = /\b[a-z]+_[0-9a-z]{26}\b/g;

/**
 * Makes the same changes to copies of a database, once by each of some functions and once by commands, and returns the rows of each copy.
 * In the rows, ids and times that the changes made are replaced by `new` and `later`, secrets by `random`, and the user of the terminal by
 * `somebody`.
 */
export async function changeEachWay(
  machine: OperatorMachine,
  before: SqliteDatabase,
  verbs: readonly ((db: SqliteDatabase) => Promise<unknown>)[],
  ...commands: readonly (readonly string[])[]
): Promise<{ verbs: string[][]; command: string[] }> {
  const known = new Set(dump(before).flatMap((row) => row.match(ID) ?? []));
  const since = Date.now();
  made += 1;
  const byCommand = join(machine.folder, `command-${made}.db`);
  const copied = copy(before, byCommand);
  // These are copies of the first copy, because the original may change meanwhile.
  const byVerb = verbs.map((_verb, index) => copy(copied, join(machine.folder, `verb-${made}-${index}.db`)));
  copied.close();
  for (const [index, db] of byVerb.entries()) await verbs[index]?.(db);
  for (const command of commands) await machine.mustRun([...command, "--db", byCommand]);
  const rowsOf = (db: SqliteDatabase): string[] =>
    dump(db).map((row) =>
      row
        .replace(/"terminal_user":(?:null|"[^"]*")/, '"terminal_user":"somebody"')
        .replaceAll(ID, (id) => (known.has(id) ? id : `new ${id.split("_")[0]}`))
        .replaceAll(/\b\d{13}\b/g, (ms) => (Number(ms) >= since ? "later" : ms)),
    );
  return { verbs: byVerb.map(rowsOf), command: rowsOf(openForTest(byCommand)) };
}

/** Like {@link changeEachWay}, with one function. */
export async function changeBothWays(
  machine: OperatorMachine,
  before: SqliteDatabase,
  verb: (db: SqliteDatabase) => Promise<unknown>,
  ...commands: readonly (readonly string[])[]
): Promise<{ verb: string[]; command: string[] }> {
  const { verbs, command } = await changeEachWay(machine, before, [verb], ...commands);
  return { verb: verbs[0] ?? [], command };
}

function copy(db: SqliteDatabase, path: string): SqliteDatabase {
  db.execute(`VACUUM INTO '${path}'`);
  return openForTest(path);
}

/** Returns every row of every table as one JSON text, sorted. */
function dump(db: SqliteDatabase): string[] {
  const tables = db
    .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    .pluck()
    .all() as string[];
  const rows = tables.flatMap((table) =>
    (db.prepare(`SELECT * FROM "${table}"`).all() as Record<string, unknown>[]).map(
      (row) => `${table} ${JSON.stringify(row, hideRandom)}`,
    ),
  );
  return rows.toSorted();
}

/** Replaces columns that contain random bytes or a value made from them, like the hash of a key. */
function hideRandom(column: string, value: unknown): unknown {
  return ["hash", "handed_hash", "tag", "lookup", "key", "token_hash", "unsubscribe_token"].includes(column)
    ? "random"
    : value;
}
