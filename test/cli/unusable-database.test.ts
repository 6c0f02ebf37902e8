import { copyFileSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import SqliteDatabase from "better-sqlite3";
import { afterAll, beforeAll, expect, test } from "vitest";
import { emptyMachine, makeMachine, type OperatorMachine } from "../support/operator-machine.ts";
import { collect, type Ran } from "../support/program.ts";

const held = makeMachine();
let holder: SqliteDatabase.Database;
/** A command that waits for the database of this machine while the other tests run. */
let blocked: Promise<Ran>;

beforeAll(async () => {
  await held.createEndpoint();
  holder = held.open();
  holder.exec("BEGIN IMMEDIATE");
  blocked = collect(held.start(["account", "create", "a@example.com"]));
});
afterAll(() => held.remove());

/** A database of a test's own, made and left by `change`. */
function damage(file: string, change: (connection: SqliteDatabase.Database) => void): void {
  const connection = new SqliteDatabase(file);
  change(connection);
  connection.close();
}

async function expectUnusable(machine: OperatorMachine, file: string, message: RegExp): Promise<void> {
  for (const args of [
    ["endpoint", "list"],
    ["serve", "--port", "0"],
  ]) {
    const ran = await machine.run([...args, "--db", file], { isRefused: true });
    expect({ args, code: ran.code, stdout: ran.stdout }).toEqual({ args, code: 5, stdout: "" });
    expect(ran.stderr).toMatch(message);
    expect(ran.stderr).toContain(file);
    expect(ran.stderr).not.toMatch(/\n\s+at /);
  }
}

test("a database file that cannot be used ends every command with exit code 5 and the reason", async () => {
  const machine = emptyMachine();
  const text = machine.write("text.db", "this is not a database, but long enough to look at".repeat(100));
  await expectUnusable(machine, text, /not a formsvc database; name the right one/);
  await expectUnusable(machine, `${text}/x.db`, /there is no database|a file, not a folder/);
  await expectUnusable(machine, machine.path("none/x.db"), /there is no database|folder does not exist/);
  mkdirSync(machine.path("folder.db"));
  await expectUnusable(machine, machine.path("folder.db"), /it is a folder; name a file in it/);

  await machine.createEndpoint();
  const torn = machine.path("torn.db");
  copyFileSync(machine.database, torn);
  const bytes = readFileSync(torn);
  writeFileSync(torn, bytes.fill(0xa5, 4096));
  await expectUnusable(machine, torn, /damaged; restore a backup/);
  expect(readFileSync(text, "utf8")).toMatch(/^this is not a database/);
});

test("a database from a newer formsvc is refused and left as it was", async () => {
  const machine = emptyMachine();
  await machine.createEndpoint();
  damage(machine.database, (connection) => connection.pragma("user_version = 99"));
  await expectUnusable(machine, machine.database, /newer formsvc .*99.*install that version/);
  const doctor = await machine.run(["doctor"], { isRefused: true });
  expect([doctor.code, doctor.stdout.match(/newer formsvc/g)?.length]).toEqual([1, 1]);
  const backup = await machine.run(["backup", "copy.db"], { isRefused: true });
  expect([backup.code, backup.stderr]).toEqual([
    5,
    expect.stringContaining(`${machine.database}: made by a newer`),
  ]);
  damage(machine.database, (connection) =>
    expect(connection.pragma("user_version", { simple: true })).toBe(99),
  );
});

test("another program's database is refused and left as it was, to the byte", async () => {
  const machine = emptyMachine();
  const file = machine.path("other.db");
  damage(file, (connection) => connection.exec("CREATE TABLE note (text)"));
  const before = readFileSync(file);
  await expectUnusable(machine, file, /another program's database; name the right one/);
  expect((await machine.run(["migrate", "status", "--db", file])).code).toBe(5);
  expect(readFileSync(file).equals(before)).toBe(true);
});

test("two names of one database file, by a symbolic link, are served once", async () => {
  const machine = emptyMachine();
  await machine.createEndpoint();
  symlinkSync(machine.database, machine.path("link.db"));
  await machine.serveHere();
  const ran = await machine.run(["serve", "--port", "0", "--db", machine.path("link.db")], {
    isRefused: true,
  });
  expect(ran).toMatchObject({ code: 5, stderr: expect.stringContaining("already served") as unknown });
});

test("a database that another program holds for writing gives exit code 5 after the wait", async () => {
  const ran = await blocked;
  holder.close();
  expect(ran.code).toBe(5);
  expect(ran.stderr).toMatch(/another process holds the database; try again/);
  expect((await held.run(["account", "create", "a@example.com"])).code).toBe(0);
});
