import { join } from "node:path";
import type { SqliteDatabase } from "../../src/database/sqlite/sqlite-database.ts";
import type { OperatorMachine } from "./operator-machine.ts";
import { openForTest } from "./temporary-database.ts";

/** Pairs of copies made so far: each has files of its own. */
let made = 0;

const ID = /\b[a-z]+_[0-9a-z]{26}\b/g;

/**
 * Makes changes to copies of a database, by each of some verbs and by commands, and returns the rows of each. Ids and times that the
 * changes made are shown as `new` and `later`, secrets as `random`, and the user of the terminal as `somebody`.
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
  // Of the first copy, because the original may go on changing.
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

/** The same by one verb. */
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

/** Every row of every table, one JSON text each, sorted. */
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

/** A key's text that is kept to verify with, and what is random in it. */
function hideRandom(column: string, value: unknown): unknown {
  return ["hash", "handed_hash", "tag", "lookup", "key", "token_hash", "unsubscribe_token"].includes(column)
    ? "random"
    : value;
}
