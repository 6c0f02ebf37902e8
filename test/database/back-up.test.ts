import { randomUUID } from "node:crypto";
import { once } from "node:events";
import {
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { systemClock } from "../../src/foundation/clock.ts";
import { backUp } from "../../src/database/sqlite/back-up.ts";
import { askForCopy } from "../../src/database/sqlite/backup-socket.ts";
import { modeOf, operatorMachine } from "../support/operator-machine.ts";
import { post, postForever, storedIds } from "../support/posts.ts";
import { addSubmission } from "../support/add-submission.ts";
import { until } from "../support/until.ts";

test("a backup of a served database under load holds everything acknowledged before it began, verified, mode 0600", async () => {
  const machine = operatorMachine();
  const endpoint = await machine.createEndpoint();
  const server = await machine.serve();
  const load = postForever(server.url, endpoint.secret);
  await until(() => load.acknowledged.length > 200);

  const before = [...load.acknowledged];
  const ran = await machine.mustRun(["backup", "copy.db", "--json"]);
  const { backup } = ran.json() as { backup: { file: string; submissions: number; by: string } };
  await load.stop();

  expect(backup.by).toBe("server");
  const stored = storedIds(machine.path("copy.db"));
  expect(before.filter((id) => !stored.has(id))).toEqual([]);
  expect(backup.submissions).toBe(stored.size);
  expect(modeOf(statSync(machine.path("copy.db")))).toBe("600");
  expect(readdirSync(machine.folder).filter((name) => name.includes("copy"))).toEqual(["copy.db"]);
  expect(await server.stop()).toBe(0);
  expect(existsSync(`${machine.database}-control`)).toBe(false);
});

test("commands that write during a backup leave it whole", async () => {
  const machine = operatorMachine();
  const endpoint = await machine.createEndpoint();
  const server = await machine.serve();
  await post(server.url, endpoint.secret);
  const filler = machine.open();
  filler.exec("CREATE TABLE filler (x BLOB)");
  const fill = filler.prepare("INSERT INTO filler VALUES (randomblob(4000))");
  filler.transaction(() => Array.from({ length: 2000 }, () => fill.run()))();
  const writing = { goesOn: true };
  const writes = (async () => {
    while (writing.goesOn) {
      filler.exec("UPDATE workspace SET name = name || '.'; UPDATE workspace SET name = 'x'");
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  })();
  const ran = await machine.mustRun(["backup", "copy.db", "--json"]);
  writing.goesOn = false;
  await writes;
  expect((ran.json() as { backup: { submissions: number } }).backup.submissions).toBe(1);
});

test("a backup without a server is made by the command itself", async () => {
  const machine = operatorMachine();
  await machine.createEndpoint();
  const { backup } = (await machine.mustRun(["backup", "copy.db", "--json"])).json() as {
    backup: { by: string };
  };
  expect(backup.by).toBe("command");
  expect(modeOf(statSync(machine.path("copy.db")))).toBe("600");
});

test("a server that says nothing is given up, and the command makes the backup without it", async () => {
  const machine = operatorMachine();
  writeFileSync(machine.database, "");
  const silent = createServer().listen(`${machine.database}-control`);
  onTestFinished(() => void silent.close());
  expect(await askForCopy(machine.database, () => {}, 50)).toEqual({ refused: "the server says nothing" });
});

/** The environment of a process that runs this before anything else. */
const running = (code: string) => ({
  NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(code)}`,
});

test("a command that waits for what never comes does not pass for done", async () => {
  const machine = operatorMachine();
  await machine.createEndpoint();
  // A socket that is never connected, in the place of the one to the server.
  const nothing = `import net from "node:net";
    import { syncBuiltinESMExports } from "node:module";
    net.connect = () => new net.Socket();
    syncBuiltinESMExports();`;
  const ran = await machine.run(["backup", "copy.db"], { env: running(nothing) });
  expect(existsSync(machine.path("copy.db"))).toBe(false);
  expect(ran.code).toBe(1);
});

test("a backup never takes the place of a file and leaves nothing half done", async () => {
  const machine = operatorMachine();
  await machine.createEndpoint();
  writeFileSync(machine.path("mine.txt"), "mine");
  symlinkSync("nothing.db", machine.path("link.db"));
  expect((await machine.run(["backup", "link.db"])).stderr).toContain("exists already");
  const refused = await machine.run(["backup", "mine.txt"]);
  expect(refused.code).toBe(1);
  expect(refused.stderr).toContain("exists already");
  expect((await machine.run(["backup", "no/folder.db"])).code).toBe(2);
  expect((await machine.run(["backup", machine.folder])).code).toBe(2);
  expect((await machine.run(["backup", "copy.db", "--db", "missing.db"])).code).toBe(5);
  expect(readdirSync(machine.folder).sort()).toEqual([
    "formsvc.config.json",
    "formsvc.db",
    "link.db",
    "mine.txt",
  ]);
  expect(lstatSync(machine.path("link.db")).isSymbolicLink()).toBe(true);
});

test("a name beside which another database's log lies is refused: the log would be replayed into the backup", async () => {
  const machine = operatorMachine();
  await machine.createEndpoint();
  writeFileSync(machine.path("copy.db-wal"), "left behind");
  const refused = await machine.run(["backup", "copy.db"]);
  expect(refused.code).toBe(1);
  expect(refused.stderr).toContain("copy.db-wal: exists already");
  expect(readdirSync(machine.folder).sort()).toEqual(["copy.db-wal", "formsvc.config.json", "formsvc.db"]);
});

test("a backup is not written through a link that lies under the name of its unfinished file", async () => {
  const machine = operatorMachine();
  await machine.createEndpoint();
  const [copy, victim] = [machine.path("copy.db"), machine.path("victim")];
  symlinkSync(victim, `${copy}.unfinished-${process.pid}`);
  await backUp(machine.database, copy, { clock: systemClock, onProgress: () => {}, onNote: () => {} });
  expect(existsSync(victim)).toBe(false);
  expect(lstatSync(copy).isFile()).toBe(true);
});

test("a backup takes nothing that an impostor on the control socket names but a copy of this database", async () => {
  const machine = operatorMachine();
  await machine.createEndpoint();
  const victim = machine.path("victim");
  const link = `${machine.database}-copy-${randomUUID()}`;
  writeFileSync(victim, "precious");
  symlinkSync(victim, link);
  const named: unknown[] = [victim, link, `${machine.database}-copy-x/../victim`, machine.database, 7];
  const answers = [...named];
  const impostor = createServer((socket) => {
    socket.on("error", () => socket.destroy());
    socket.end(`${JSON.stringify({ file: answers.shift() })}\n`);
  }).listen(`${machine.database}-control`);
  onTestFinished(() => void impostor.close());
  await once(impostor, "listening");
  for (const [index] of named.entries()) {
    const notes: string[] = [];
    const onNote = (text: string): void => void notes.push(text);
    const made = await backUp(machine.database, machine.path(`${index}.db`), {
      clock: systemClock,
      onProgress: () => {},
      onNote,
    });
    expect([made.by, notes.join()]).toEqual([
      "command",
      expect.stringContaining("what it named is no copy of this database"),
    ]);
  }
  expect(readFileSync(victim, "utf8")).toBe("precious");
  expect(lstatSync(link).isSymbolicLink()).toBe(true);
  expect(existsSync(machine.database)).toBe(true);
});

test("a damaged database gives no backup", async () => {
  const machine = operatorMachine();
  const endpoint = await machine.createEndpoint();
  const connection = machine.open();
  connection.pragma("foreign_keys = OFF");
  addSubmission(connection, { endpointId: endpoint.id });
  connection.exec("UPDATE submission SET endpoint_number = 99");
  const ran = await machine.run(["backup", "copy.db"]);
  expect(ran.code).toBe(5);
  expect(ran.stderr).toContain("refer to nothing");
  expect(existsSync(machine.path("copy.db"))).toBe(false);
});

test("scheduled backups are made at once when none is there, and only the newest stay", async () => {
  const machine = operatorMachine();
  machine.configure({ backup: { everyHours: 24, keep: 2, directory: "./copies" } });
  const endpoint = await machine.createEndpoint();
  const server = await machine.serve();
  await post(server.url, endpoint.secret);
  await until(() => server.lines.some((line) => String(line["event"]).startsWith("backup.")));
  expect(server.lines.map((line) => line["event"])).toContain("backup.made");
  const names = readdirSync(machine.path("copies"));
  expect(names).toHaveLength(1);
  expect(modeOf(statSync(machine.path("copies")))).toBe("700");
  expect(modeOf(statSync(machine.path(`copies/${names[0]}`)))).toBe("600");
  expect(await server.stop()).toBe(0);
});

test("a scheduled backup that fails is logged with a reason in one line, whatever went wrong", async () => {
  const machine = operatorMachine();
  machine.configure({ backup: { everyHours: 24, keep: 2, directory: "./copies" } });
  await machine.createEndpoint();
  const defect = `import fs from "node:fs";
    import { syncBuiltinESMExports } from "node:module";
    if (process.argv[2] === "backup") fs.statSync = () => undefined.defect;
    syncBuiltinESMExports();`;
  const server = await machine.serve({ env: running(defect) });
  const failed = () => server.lines.find((line) => line["event"] === "backup.failed");
  await until(() => failed() !== undefined);
  expect(failed()?.["reason"]).toMatch(/^internal error; TypeError: .*defect'\)$/);
});

test("a stop of the server gives the backup under way up, and that is no failure", async () => {
  const machine = operatorMachine();
  machine.configure({ backup: { everyHours: 24, keep: 2, directory: "./copies" } });
  await machine.createEndpoint();
  const endless = `if (process.argv[2] === "backup")
    (await import("node:fs")).writeFileSync("begun", ""), await new Promise((resolve) => setTimeout(resolve, 100_000));`;
  const server = await machine.serve({ env: running(endless) });
  await until(() => existsSync(machine.path("begun")));
  expect(await server.stop()).toBe(0);
  const events = server.lines.map((line) => line["event"]);
  expect(events).not.toContain("backup.failed");
  expect(events.at(-1)).toBe("server.stopped");
});
