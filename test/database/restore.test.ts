import { execFileSync } from "node:child_process";
import {
  chownSync,
  copyFileSync,
  cpSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { migrations } from "../../src/database/migrations.generated.ts";
import { APPLICATION_ID } from "../../src/database/sqlite/file-owner.ts";
import { makeMachine, modeOf, type OperatorMachine, operatorMachine } from "../support/operator-machine.ts";
import { post, storedIds } from "../support/posts.ts";
import { submissionAdder } from "../support/add-submission.ts";

/** The schema version from which on webhooks are recipients. */
const RECIPIENTS_VERSION = 11;

/** A server with one post that a backup has and one that it lacks. */
async function arrange(machine: OperatorMachine) {
  machine.configure({});
  const endpoint = await machine.createEndpoint();
  const server = await machine.serve();
  const first = await post(server.url, endpoint.secret);
  await machine.mustRun(["backup", "copy.db"]);
  const second = await post(server.url, endpoint.secret);
  return { machine, endpoint, server, first, second };
}

const servedWithBackup = () => arrange(operatorMachine());

const stopped = makeMachine();
let arranged: Omit<Awaited<ReturnType<typeof arrange>>, "machine" | "server">;
beforeAll(async () => {
  const { server, ...others } = await arrange(stopped);
  await server.stop();
  arranged = others;
});
afterAll(() => stopped.remove());

/** The same after the server has stopped, as a copy of what is arranged once. */
function machineWithBackup() {
  const machine = operatorMachine();
  cpSync(stopped.folder, machine.folder, { recursive: true });
  return { ...arranged, machine };
}

test("restore puts back what the backup holds, keeps what it replaces, and the server takes posts again", async () => {
  const { machine, endpoint, first, second } = machineWithBackup();
  const { restored } = (await machine.mustRun(["restore", "copy.db", "--json", "--yes"])).json() as {
    restored: { submissions: number; replaced: string };
  };
  expect(restored.submissions).toBe(1);
  expect(storedIds(machine.database)).toEqual(new Set([first]));
  expect(storedIds(restored.replaced)).toEqual(new Set([first, second]));
  expect(modeOf(statSync(machine.database))).toBe("600");
  expect(storedIds(machine.path("copy.db"))).toEqual(new Set([first]));
  const again = await machine.serve();
  const third = await post(again.url, endpoint.secret);
  expect(storedIds(machine.database)).toEqual(new Set([first, third]));
});

test("a backup made while no server runs leaves out the room of what was deleted, and restoring it gives that back", async () => {
  const { machine, endpoint } = machineWithBackup();
  const connection = machine.open();
  const insert = submissionAdder(connection);
  const data = { text: "x".repeat(1000) };
  connection.transaction(() => {
    for (let number = 0; number < 1000; number += 1)
      insert({ id: `sub_${number}`, endpointId: endpoint.id, data, createdAt: 1000 });
  })();
  connection.exec("DELETE FROM submission WHERE created_at = 1000");
  connection.pragma("wal_checkpoint(TRUNCATE)");
  connection.close();
  const before = statSync(machine.database).size;
  expect(before).toBeGreaterThan(1_000_000);
  await machine.mustRun(["backup", "compact.db"]);
  await machine.mustRun(["restore", "compact.db", "--yes"]);
  expect(statSync(machine.database).size).toBeLessThan(before - 1_000_000);
});

test("restore refuses with exit 5 while a server runs, and touches nothing", async () => {
  const { machine, server, first, second } = await servedWithBackup();
  const ran = await machine.run(["restore", "copy.db", "--yes"]);
  expect(ran.code).toBe(5);
  expect(ran.stderr).toContain("already served by process");
  expect(storedIds(machine.database)).toEqual(new Set([first, second]));
  await server.stop();
});

test("restore refuses while another process has the database open", async () => {
  const { machine, first, second } = machineWithBackup();
  const reader = machine.open();
  reader.prepare("SELECT count(*) FROM submission").get();
  const ran = await machine.run(["restore", "copy.db", "--yes"]);
  expect(ran.code).toBe(5);
  expect(ran.stderr).toContain("another process has it open; end that first: ");
  if (process.platform === "linux") expect(ran.stderr).toContain(`process ${process.pid} (node)`);
  expect(storedIds(machine.database)).toEqual(new Set([first, second]));
});

test("a damaged, foreign, newer or missing backup changes nothing", async () => {
  const { machine, first, second } = machineWithBackup();
  const names = readdirSync(machine.folder).sort();

  copyFileSync(machine.path("copy.db"), machine.path("cut.db"));
  truncateSync(machine.path("cut.db"), 8192);
  writeFileSync(machine.path("text.db"), "not a database at all ".repeat(100));
  machine.open(machine.path("other.db")).exec("CREATE TABLE t (x)");
  copyFileSync(machine.path("copy.db"), machine.path("newer.db"));
  machine.open(machine.path("newer.db")).pragma("user_version = 9999");

  const expected = { "cut.db": 5, "text.db": 5, "other.db": 5, "newer.db": 5, "missing.db": 2 };
  for (const [file, code] of Object.entries(expected)) {
    const ran = await machine.run(["restore", file, "--yes"]);
    expect([file, ran.code]).toEqual([file, code]);
    expect(ran.stderr).toContain(file);
  }
  // Nobody is asked about what is no backup.
  for (const file of ["text.db", "missing.db"]) {
    const ran = await machine.run(["restore", file]);
    expect([ran.code, ran.stderr]).toEqual([
      expected[file as "text.db"],
      expect.not.stringContaining("--yes"),
    ]);
  }
  expect(storedIds(machine.database)).toEqual(new Set([first, second]));
  const left = readdirSync(machine.folder).filter(
    (name) => !(name in expected) && !/-(?:wal|shm)$/.test(name),
  );
  expect(left.sort()).toEqual(names);
});

test.each([
  ["of the file format", 18],
  ["of the schema format", 47],
])("a backup with a flipped byte in its header, %s, is called damaged", async (_what, at) => {
  const { machine } = machineWithBackup();
  const bytes = readFileSync(machine.path("copy.db"));
  bytes[at] = ~(bytes[at] ?? 0);
  writeFileSync(machine.path("flipped.db"), bytes);
  const ran = await machine.run(["restore", "flipped.db", "--yes"]);
  expect([ran.code, ran.stderr]).toEqual([5, expect.stringMatching(/flipped\.db: damaged: .+\n$/)]);
});

test("a link that leads nowhere is not replaced by the restored database, and is named with what to do", async () => {
  const { machine } = machineWithBackup();
  symlinkSync("/not-mounted/formsvc.db", machine.path("dead.db"));
  symlinkSync("loop.db", machine.path("loop.db"));
  for (const link of ["dead.db", "loop.db"]) {
    const ran = await machine.run(["restore", "copy.db", "--db", link, "--yes"]);
    expect([ran.code, ran.stderr]).toEqual([
      2,
      expect.stringContaining(`${link}: this is a link that leads`),
    ]);
    expect(lstatSync(machine.path(link)).isSymbolicLink()).toBe(true);
  }
});

test("a pipe in the place of a backup's log is refused and not waited for", async () => {
  const { machine } = machineWithBackup();
  execFileSync("mkfifo", [machine.path("copy.db-wal")]);
  const ran = await machine.run(["restore", "copy.db", "--yes"]);
  expect([ran.code, ran.stderr]).toEqual([
    5,
    expect.stringContaining("copy.db-wal: this must be a plain file"),
  ]);
});

test("a database that is damaged beyond reading is replaced and kept as it is", async () => {
  const { machine, first } = machineWithBackup();
  writeFileSync(machine.database, "lightning struck ".repeat(1000));
  const { restored } = (await machine.mustRun(["restore", "copy.db", "--json", "--yes"])).json() as {
    restored: { replaced: string };
  };
  expect(storedIds(machine.database)).toEqual(new Set([first]));
  expect(statSync(restored.replaced).size).toBe(17_000);
});

test.skipIf(process.getuid?.() !== 0)("what root restores belongs to the owner of its folder", async () => {
  const { machine } = machineWithBackup();
  chownSync(machine.folder, 12_345, 12_345);
  const named = ["--config", "formsvc.config.json", "--db", "formsvc.db"];
  await machine.mustRun(["restore", "copy.db", "--yes", ...named]);
  expect(statSync(machine.database).uid).toBe(12_345);
});

test("restore asks before it replaces a database: without a terminal it needs --yes, and changes nothing", async () => {
  const { machine, first, second } = machineWithBackup();
  const ran = await machine.run(["restore", "copy.db"]);
  expect(ran.code).toBe(2);
  expect(ran.stderr).toContain("--yes");
  expect(storedIds(machine.database)).toEqual(new Set([first, second]));
});

test("restore on a machine without a database makes one", async () => {
  const { machine, first } = machineWithBackup();
  await machine.mustRun(["restore", "copy.db", "--db", "new.db"]);
  expect(storedIds(machine.path("new.db"))).toEqual(new Set([first]));
});

test("a log that a deleted database left behind is kept aside and does not get into the restored one", async () => {
  const { machine, server, first } = await servedWithBackup();
  await server.stop("SIGKILL");
  rmSync(machine.database);
  const { restored } = (await machine.mustRun(["restore", "copy.db", "--json"])).json() as {
    restored: { replaced: string };
  };
  expect(storedIds(machine.database)).toEqual(new Set([first]));
  expect(restored.replaced).toMatch(/formsvc\.db\.replaced-.*-wal$/);
  expect(statSync(restored.replaced).size).toBeGreaterThan(0);
  expect(machine.open().pragma("integrity_check", { simple: true })).toBe("ok");
});

test("a backup that was copied by hand with its write-ahead log is restored with it", async () => {
  const { machine, server, first, second } = await servedWithBackup();
  copyFileSync(machine.database, machine.path("hand.db"));
  copyFileSync(`${machine.database}-wal`, machine.path("hand.db-wal"));
  await server.stop("SIGKILL");
  await machine.mustRun(["restore", "hand.db", "--yes"]);
  expect(storedIds(machine.database)).toEqual(new Set([first, second]));
});

test("restore signs everybody out of the dashboard: no session or link from before the backup comes back", async () => {
  const machine = operatorMachine();
  await machine.createEndpoint();
  await machine.mustRun(["account", "sign-in-link", "owner@localhost"]);
  const connection = machine.open();
  connection.exec(
    "INSERT INTO session SELECT 'ses_1', id, x'00', 9e15, 9e15, 'Firefox', NULL, NULL FROM account",
  );
  connection.exec("INSERT INTO credential SELECT id, 'hash', NULL, NULL, 1 FROM account");
  connection.close();
  await machine.mustRun(["backup", "copy.db"]);
  await machine.mustRun(["restore", "copy.db", "--yes"]);
  const count = (table: string) => machine.open().prepare(`SELECT count(*) FROM ${table}`).pluck().get();
  expect(["session", "sign_in_link", "credential"].map(count)).toEqual([0, 0, 1]);
});

test("--hold-webhooks holds what the backup has as not delivered until its webhook is enabled, and nothing else does", async () => {
  const machine = operatorMachine();
  const endpoint = await machine.createEndpoint();
  // A closed port: the delivery stays pending.
  const url = "http://127.0.0.1:9/hook";
  await machine.mustRun(["webhook", "create", "--endpoint", endpoint.id, "--url", url, "--allow-private"]);
  const server = await machine.serveHere();
  await post(server.url, endpoint.secret);
  await server.stop();
  await machine.mustRun(["backup", "copy.db"]);
  const states = async (): Promise<unknown> => {
    const listed = (await machine.mustRun(["webhook", "deliveries", "--json"])).json();
    const connection = machine.open();
    const webhooks = connection.prepare("SELECT state FROM recipient").pluck().all();
    connection.close();
    return [(listed as { data: { state: string }[] }).data.map(({ state }) => state), webhooks];
  };
  await machine.mustRun(["restore", "copy.db", "--yes"]);
  expect(await states()).toEqual([["pending"], ["enabled"]]);
  const ran = await machine.mustRun(["restore", "copy.db", "--hold-webhooks", "--json", "--yes"]);
  expect((ran.json() as { restored: { held_deliveries: number } }).restored.held_deliveries).toBe(1);
  const again = await machine.serveHere();
  await post(again.url, endpoint.secret);
  await again.stop();
  expect(await states()).toEqual([["held", "held"], ["disabled"]]);
});

test("--hold-webhooks says how many webhooks are disabled and how to enable them, even if nothing was pending", async () => {
  const machine = operatorMachine();
  const endpoint = await machine.createEndpoint();
  const url = "https://example.org/hook";
  await machine.mustRun(["webhook", "create", "--endpoint", endpoint.id, "--url", url]);
  await machine.mustRun(["backup", "copy.db"]);
  const restore = (...flags: string[]) => machine.mustRun(["restore", "copy.db", "--yes", ...flags]);
  expect((await restore()).stderr).not.toContain("webhook");
  const { stderr } = await restore("--hold-webhooks");
  expect(stderr).toContain("webhooks disabled: 1, recipients of e-mail disabled: 0, deliveries held: 0");
  expect(stderr).toContain("formsvc webhook enable WEBHOOK");
  expect(stderr).not.toContain("formsvc recipient");
  expect((await restore("--hold-webhooks", "--json")).json()).toMatchObject({
    restored: { disabled_webhooks: 1, held_deliveries: 0 },
  });
});

test("--hold-webhooks holds e-mail too, and says how it goes on", async () => {
  const machine = await machineWithMail();
  const ran = await machine.mustRun(["restore", "copy.db", "--yes", "--hold-webhooks"]);
  expect(ran.stderr).toContain("webhooks disabled: 0, recipients of e-mail disabled: 1, deliveries held: 1");
  expect(ran.stderr).toContain("formsvc recipient enable RECIPIENT");
  expect(ran.stderr).not.toContain("formsvc webhook");
  const { data } = await machine.json<{ data: object[] }>(["recipient", "list"]);
  expect(data).toMatchObject([{ state: "disabled" }]);
  const again = await machine.json(["restore", "copy.db", "--yes", "--hold-webhooks"]);
  expect(again).toMatchObject({
    restored: {
      disabled_webhooks: 0,
      disabled_mail_recipients: 1,
      held_deliveries: 1,
      dropped_replies: 1,
    },
  });
});

test("an automatic reply that the backup has as waiting is not sent again, and the next posts get theirs", async () => {
  const machine = await machineWithMail();
  for (const flags of [[], ["--hold-webhooks"]]) {
    const ran = await machine.mustRun(["restore", "copy.db", "--yes", ...flags]);
    expect(ran.stderr).toContain("are not sent again: 1");
    const connection = machine.open();
    const ofReplies = "WHERE recipient_id IN (SELECT id FROM auto_reply)";
    const count = (rows: string): unknown => connection.prepare(`SELECT count(*) FROM ${rows}`).pluck().get();
    expect(count(`delivery ${ofReplies} AND state <> 'failed'`)).toBe(0);
    expect(count(`outbox ${ofReplies}`)).toBe(0);
    expect(count("recipient WHERE kind = 'autoreply' AND state = 'enabled'")).toBe(1);
  }
});

/** With a backup in which an e-mail and an automatic reply wait, because nothing listens at the mail server's port. */
async function machineWithMail() {
  const machine = operatorMachine({ mail: { host: "127.0.0.1", port: 9, from: "forms@example.org" } });
  const { secret } = await machine.createEndpoint({ name: "Contact" });
  await machine.mustRun(["recipient", "add", "owner@example.org", "--endpoint", "Contact"]);
  await machine.mustRun(["autoreply", "set", "Contact"]);
  const server = await machine.serveHere();
  await post(server.url, secret);
  await server.stop();
  await machine.mustRun(["backup", "copy.db"]);
  return machine;
}

test("--hold-webhooks disables the webhooks of a backup from before recipients had a table", async () => {
  const machine = operatorMachine();
  const older = machine.open(machine.path("older.db"));
  for (const { sql } of migrations.slice(0, RECIPIENTS_VERSION - 1)) older.exec(sql);
  older.exec(`
    PRAGMA application_id = ${APPLICATION_ID};
    PRAGMA user_version = ${RECIPIENTS_VERSION - 1};
    INSERT INTO account (id, email, created_at) VALUES ('acct_1', 'ada@example.org', 0);
    INSERT INTO workspace VALUES ('ws_1', 'acct_1', 'ada', 'hobby', 0);
    INSERT INTO endpoint (id, workspace_id, name, state, schema_version, allowed_origins, unknown_fields, created_at)
      VALUES ('ep_1', 'ws_1', 'Contact', 'active', 1, '[]', 'drop', 0);
    INSERT INTO webhook (id, endpoint_id, url, headers, allow_private, max_spam_score, state, breaker, breaker_count, not_before, created_at)
      VALUES ('wh_1', 'ep_1', 'https://example.org/hook', '{}', 0, 100, 'enabled', 'closed', 0, 0, 0);
  `);
  older.close();
  const restored = await machine.mustRun(["restore", "older.db", "--hold-webhooks", "--json", "--yes"]);
  expect(restored.json()).toMatchObject({ restored: { disabled_webhooks: 1 } });
  const shown = await machine.mustRun(["webhook", "show", "wh_1", "--json"]);
  expect(shown.json()).toMatchObject({ webhook: { state: "disabled", url: "https://example.org/hook" } });
});

test("a database whose name is empty or a folder's is refused by every command, and the folder stays", async () => {
  const machine = operatorMachine();
  await machine.createEndpoint();
  await machine.mustRun(["backup", "copy.db"]);
  mkdirSync(machine.path("folder"));
  const before = readdirSync(machine.folder).sort();
  for (const args of [
    ["restore", "copy.db", "--db", ""],
    ["--db=", "restore", "copy.db"],
    ["--db", "", "endpoint", "list"],
    ["endpoint", "list", "--config", ""],
    ["submission", "export", "--output", ""],
    ["restore", "copy.db", "--db", "folder"],
    ["submission", "import", "folder"],
    ["backup", "formsvc.config.json/x.db"],
  ]) {
    const ran = await machine.run(args);
    expect([args, ran.code]).toEqual([args, 2]);
    expect(ran.stderr).toMatch(
      /the name of a file is empty|this is not a file|this is a folder|its folder does not/,
    );
  }
  const left = readdirSync(machine.folder).filter((name) => !name.endsWith("-serve"));
  expect(left.sort()).toEqual(before);
});
