import { expect, test } from "vitest";
import { operatorMachine, post, storedIds } from "../support/operator-machine.ts";

/** What Litestream does to a database: two tables, and a read transaction that is open nearly all the time. */
function actAsLitestream(machine: ReturnType<typeof operatorMachine>): void {
  const connection = machine.open();
  connection.pragma("journal_mode = WAL");
  connection.exec(`
    CREATE TABLE IF NOT EXISTS _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER);
    CREATE TABLE IF NOT EXISTS _litestream_lock (id INTEGER);
    INSERT INTO _litestream_seq VALUES (1, 1);
  `);
  connection.pragma("wal_autocheckpoint = 0");
  connection.exec("BEGIN; SELECT count(*) FROM _litestream_seq");
}

test("Litestream's tables and its long read transaction hold up neither posts nor backups nor a stop", async () => {
  const machine = operatorMachine();
  const endpoint = await machine.createEndpoint();
  actAsLitestream(machine);
  const server = await machine.serve();
  const ids = [];
  for (let count = 0; count < 50; count += 1) ids.push(await post(server.url, endpoint.secret));
  await machine.mustRun(["backup", "copy.db"]);
  expect([...storedIds(machine.path("copy.db"))].sort()).toEqual([...ids].sort());
  expect(await server.stop()).toBe(0);
  expect([...storedIds(machine.database)].sort()).toEqual([...ids].sort());
  expect(server.lines.filter((line) => line["level"] === "warn" || line["level"] === "error")).toEqual([]);
});

test("a database that Litestream has prepared before formsvc is taken for a new one", async () => {
  const machine = operatorMachine();
  actAsLitestream(machine);
  const endpoint = await machine.createEndpoint();
  expect(endpoint.id).toMatch(/^ep_/);
});
