import { once } from "node:events";
import { existsSync, readdirSync, readlinkSync, rmSync, symlinkSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { dirname, join } from "node:path";
import Driver from "better-sqlite3";
import { expect, onTestFinished, test } from "vitest";
import { removeUnused } from "../../src/database/sqlite/remove-unused.ts";
import { copyFreshDatabase } from "../support/fresh-database.ts";
import { operatorMachine } from "../support/operator-machine.ts";
import { collect } from "../support/program.ts";
import { openForTest, temporaryDatabase } from "../support/temporary-database.ts";
import { until } from "../support/until.ts";

/** Whether a process has a file open. */
function hasOpen(pid: number, file: string): boolean {
  const descriptors = `/proc/${pid}/fd`;
  return readdirSync(descriptors).some((each) => {
    try {
      return readlinkSync(join(descriptors, each)) === file;
    } catch {
      return false;
    }
  });
}

const REFUSED = ["account", "create", "no address"];

test("a refused first command leaves no database, and one that is there stays", async () => {
  const machine = operatorMachine();
  const first = await machine.run(REFUSED);
  expect(first.code).toBe(2);
  expect(first.stderr).toMatch(/made a new database.*\n.*removed again/);
  expect(readdirSync(dirname(machine.database)).filter((name) => name.startsWith("formsvc.db"))).toEqual([]);
  await machine.mustRun(["account", "create", "ada@example.com"]);
  expect((await machine.run(REFUSED)).code).toBe(2);
  expect((await machine.mustRun(["account", "list"])).stdout).toContain("ada@example.com");
});

test.each([
  ["its own port", (port: number) => ["--port", String(port)], {}],
  ["the dashboard's", () => ["--port", "0"], { dashboard: "listen" }],
  ["that of metrics", () => ["--port", "0"], { metrics: "listen" }],
] as const)("a server that finds %s taken changes nothing in its folder", async (_, flags, named) => {
  const other = createServer().listen(0, "127.0.0.1");
  onTestFinished(() => void other.close());
  await once(other, "listening");
  const { port } = other.address() as AddressInfo;
  const settings = Object.keys(named).map((part) => [part, { enabled: true, listen: `127.0.0.1:${port}` }]);
  const machine = operatorMachine(Object.fromEntries(settings) as Record<string, unknown>);
  const before = readdirSync(machine.folder);
  const ran = await machine.run(["serve", ...flags(port)]);
  expect([ran.code, ran.stderr]).toEqual([1, expect.stringContaining(`:${port}: the port is taken`)]);
  expect(readdirSync(machine.folder)).toEqual(before);
});

test("a second server of one database is told so, although its port is taken too", async () => {
  const machine = operatorMachine();
  const { url } = await machine.serve();
  const second = await machine.run(["serve", "--port", new URL(url).port]);
  expect([second.code, second.stderr]).toEqual([5, expect.stringContaining("already served by process")]);
});

test("a new database stays if it has an account, or while another process has it open", () => {
  const db = temporaryDatabase();
  expect(removeUnused(db.path)).toBe(false);
  db.execute("INSERT INTO account (id, email, created_at) VALUES ('acc_1', 'ada@example.com', 0)");
  db.close();
  expect(removeUnused(db.path)).toBe(false);
  const again = openForTest(db.path);
  again.execute("DELETE FROM account");
  expect(removeUnused(db.path)).toBe(false);
  again.close();
  const link = `${db.path}.link`;
  symlinkSync(db.path, link);
  expect(removeUnused(link)).toBe(true);
  expect(existsSync(db.path)).toBe(false);
});

test("a command that waited for a database while it was removed stores nothing in the removed file", async () => {
  const machine = operatorMachine();
  copyFreshDatabase(machine.database);
  const other = new Driver(machine.database);
  onTestFinished(() => void other.close());
  other.pragma("locking_mode = EXCLUSIVE");
  other.exec("BEGIN EXCLUSIVE");
  const process = await machine.begin(["account", "create", "ada@example.com"]);
  const ended = collect(process);
  await until(() => hasOpen(process.pid ?? 0, machine.database));
  rmSync(machine.database);
  other.close();
  // SQLite opens no log for a file that has lost its name.
  expect(await ended).toMatchObject({ code: 5, stdout: "" });
});
