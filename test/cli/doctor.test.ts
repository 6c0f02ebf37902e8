import {
  chmodSync,
  closeSync,
  existsSync,
  ftruncateSync,
  mkdtempSync,
  openSync,
  rmSync,
  statfsSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import { noteBackup } from "../../src/database/sqlite/last-backup.ts";
import { machineOnDisk, modeOf, type OperatorMachine } from "../support/operator-machine.ts";
import { post } from "../support/posts.ts";
import { plainSettings, startScriptedServer } from "../support/smtp-servers.ts";
import { addSubmission } from "../support/add-submission.ts";
import { until } from "../support/until.ts";
import { HOUR_MS } from "../../src/foundation/time-units.ts";

/** A submission as an import may have brought it, before imports refused such times. */
const FROM_THE_FUTURE = { id: "sub_7zzzzzzzzzzzzzzzzzzzzzzzzz", createdAt: 4_000_000_000_000 };

/** A message that this program made while the clock was ahead. */
const notifyInTheFuture = (endpointId: string, submissionId: string): string => `
  INSERT INTO recipient (id, endpoint_id, max_spam_score, state, breaker, breaker_count, not_before, created_at)
    VALUES ('wh_01h455vb4pex5vsknk084sn02q', '${endpointId}', 100, 'enabled', 'closed', 0, 0, 0);
  INSERT INTO delivery (id, submission_id, recipient_id, state, due_at)
    VALUES ('msg_7zzzzzzzzzzzzzzzzzzzzzzzzz', '${submissionId}', 'wh_01h455vb4pex5vsknk084sn02q', 'delivered', 0);
`;

interface Report {
  healthy: boolean;
  checks: { name: string; ok: boolean; message: string; advice: string | null }[];
}

async function examine(machine: OperatorMachine) {
  const ran = await machine.run(["doctor", "--json"]);
  const { healthy, checks } = JSON.parse(ran.stdout) as Report;
  return { code: ran.code, healthy, problems: checks.filter(({ ok }) => !ok) };
}

/** A machine of somebody who made a backup, without which nothing is well. */
function machineWithBackup(): OperatorMachine {
  const machine = machineOnDisk();
  noteBackup(machine.database, { file: machine.path("copy.db"), madeAt: "2026-01-31T03:00:00.000Z" });
  return machine;
}

test("a sound installation has a line for each check and exit code 0", async () => {
  const machine = machineWithBackup();
  const endpoint = await machine.createEndpoint();
  const server = await machine.serve();
  await post(server.url, endpoint.secret);
  const ran = await machine.run(["doctor"]);
  expect(ran.stdout).toBe("");
  expect(ran.stderr.trim().split("\n")).toHaveLength(37);
  expect(ran.code).toBe(0);
  expect((await machine.run(["doctor", "--quiet"])).stderr).toBe("");
});

test("each thing that is wrong has a line with what to do, on standard output for cron, and exit code 1", async () => {
  const machine = machineOnDisk();
  machine.configure({
    plans: { hobby: { monthlySubmissions: 10, endpoints: null, customSpam: true } },
    backup: { everyHours: 1, keep: 1, directory: "./copies" },
    server: { trustProxy: ["127.0.0.1"] },
    dashboard: {
      trustedUserHeader: {
        name: "Remote-Email",
        secretHeader: "X-Proxy-Secret",
        secret: "of-the-proxy-alone",
      },
    },
  });
  const endpoint = await machine.createEndpoint();
  const connection = machine.open();
  connection.exec(`
    UPDATE account SET is_doubtful = 1;
    UPDATE api_key SET seen_in_browser_at = 1 WHERE kind = 'secret';
    INSERT INTO usage SELECT id, strftime('%Y-%m', 'now'), 9 FROM workspace;
  `);
  connection.exec(notifyInTheFuture(endpoint.id, addSubmission(connection, { endpointId: endpoint.id })));
  chmodSync(machine.database, 0o644);
  const { code, healthy, problems } = await examine(machine);
  expect(code).toBe(1);
  expect(healthy).toBe(false);
  expect(problems.map(({ name }) => name)).toEqual([
    "machine.clock",
    "files.modes",
    "config.token",
    "backups.age",
    "keys.leaked",
    "accounts.doubt",
    "limits.monthly",
  ]);
  expect(problems.every(({ advice }) => advice !== null)).toBe(true);
  const ran = await machine.run(["doctor", "--quiet"]);
  expect(ran.stdout.split("\n").filter((line) => line.startsWith("PROBLEM"))).toHaveLength(7);
  expect(ran.stderr).toBe("formsvc: 7 problems\n");
});

test("a month is a problem from 80 % of its limit on, and says at 100 % that posts are refused", async () => {
  const machine = machineWithBackup();
  machine.configure({ plans: { hobby: { monthlySubmissions: 10, endpoints: null, customSpam: true } } });
  await machine.createEndpoint();
  const connection = machine.open();
  connection.exec("INSERT INTO usage SELECT id, strftime('%Y-%m', 'now'), 7 FROM workspace");
  const found = async (used: number) => {
    connection.prepare("UPDATE usage SET used = ?").run(used);
    return (await examine(machine)).problems.map(({ name, message }) => [
      name,
      message.replace(/ws_\w+/, "WS"),
    ]);
  };
  expect(await found(7)).toEqual([]);
  const near = "WS has used 8 of 10 submissions of the plan hobby";
  expect(await found(8)).toEqual([["limits.monthly", near]]);
  const full = "WS has used 10 of 10 submissions of the plan hobby; further posts are answered 429 and held";
  expect(await found(10)).toEqual([["limits.monthly", full]]);
});

test("held posts are a problem once 80 % of their room is taken, with how many had to go", async () => {
  const machine = machineOnDisk();
  machine.configure({
    plans: { hobby: { monthlySubmissions: 1, endpoints: null, customSpam: true } },
    held: { maxPerWorkspace: 5 },
  });
  const endpoint = await machine.createEndpoint();
  const server = await machine.serve();
  const send = () =>
    fetch(`${server.url}/submit`, {
      method: "POST",
      headers: { authorization: `Bearer ${endpoint.secret}`, "content-type": "application/json" },
      body: JSON.stringify({ name: "Ada", email: "ada@example.org", message: "Hello" }),
    });
  const found = async () => {
    const { problems } = await examine(machine);
    return problems
      .filter(({ name }) => name === "held.room")
      .map(({ message }) => message.replace(/ws_\w+/, "WS").replace(/at 20.*Z$/, "at T"));
  };
  for (let sent = 0; sent < 4; sent += 1) await send();
  expect(await found()).toEqual([]);
  await send();
  expect(await found()).toEqual(["WS holds 4 refused posts of 5"]);
  for (let sent = 0; sent < 3; sent += 1) await send();
  expect(await found()).toEqual(["WS holds 5 refused posts of 5; 2 had to go so far, the last at T"]);
});

test("the submission or message that lies ahead of the clock is named, and deleting that submission as advised makes the clock sound", async () => {
  const machine = machineWithBackup();
  const endpoint = await machine.createEndpoint();
  const connection = machine.open();
  addSubmission(connection, { ...FROM_THE_FUTURE, endpointId: endpoint.id });
  const [posted] = (await examine(machine)).problems;
  expect(posted?.message).toMatch(
    new RegExp(`before the newest submission of .+ \\(${FROM_THE_FUTURE.id}\\)$`),
  );
  const deletion = /formsvc (submission delete \S+)$/.exec(posted?.advice ?? "")?.[1] ?? "";
  await machine.mustRun([...deletion.split(" "), "--yes"]);
  expect((await examine(machine)).problems).toEqual([]);
  connection.exec(notifyInTheFuture(endpoint.id, addSubmission(connection, { endpointId: endpoint.id })));
  const [clock] = (await examine(machine)).problems;
  expect(clock?.name).toBe("machine.clock");
  const [, advised = ""] = /formsvc (submission delete \S+)$/.exec(clock?.advice ?? "") ?? [];
  await machine.mustRun([...advised.split(" "), "--yes"]);
  expect((await examine(machine)).problems).toEqual([]);
  connection.exec("UPDATE audit_event SET at = at + 3600000");
  const [ahead] = (await examine(machine)).problems;
  expect(ahead).toMatchObject({
    name: "machine.clock",
    message: expect.stringMatching(/, before the newest change of 2\S+Z$/) as string,
    advice: expect.stringContaining("timedatectl") as string,
  });
  await machine.mustRun(["workspace", "create", "--name", "Next"]);
  expect((await examine(machine)).problems).toEqual([]);
});

test("a token in a configuration file that others may read is to be moved, not the file closed to the service", async () => {
  const machine = machineWithBackup();
  await machine.createEndpoint();
  const file = machine.path("formsvc.config.json");
  chmodSync(file, 0o644);
  const env = { FORMSVC_METRICS_TOKEN: "a-token-of-some-length" };
  expect((await machine.run(["doctor"], { env })).code).toBe(0);
  machine.configure({ metrics: { enabled: true, token: "a-token-of-some-length" } });
  const { problems } = await examine(machine);
  expect(problems.map(({ name }) => name)).toEqual(["config.token"]);
  expect(problems[0]?.advice).toContain("FORMSVC_METRICS_TOKEN");
  expect(problems[0]?.advice).not.toContain("chmod");
  chmodSync(file, 0o600);
  expect((await examine(machine)).problems).toEqual([]);
});

test("doctor counts the database that a restore kept, among the lines that say that all is well", async () => {
  const machine = machineOnDisk();
  await machine.createEndpoint();
  await machine.mustRun(["backup", "copy.db"]);
  await machine.mustRun(["restore", "copy.db", "--yes"]);
  const ran = await machine.run(["doctor"]);
  expect(ran.code).toBe(0);
  expect(ran.stderr).toMatch(/ok +files\.leftovers +1 kept or unfinished files of 1 MiB, the oldest from 20/);
});

test("no backup is a problem until one is scheduled or made, by whatever command", async () => {
  const machine = machineOnDisk();
  await machine.createEndpoint();
  const { code, problems } = await examine(machine);
  expect([code, problems.map(({ name }) => name)]).toEqual([1, ["backups.age"]]);
  expect(problems[0]).toMatchObject({
    message: "no backup is scheduled, and none was made",
    advice: expect.stringContaining("backup.everyHours") as unknown,
  });
  await machine.mustRun(["backup", "copy.db"]);
  const ran = await machine.run(["doctor"]);
  expect(ran.code).toBe(0);
  expect(ran.stderr).toMatch(/ok +backups\.age +none is scheduled; the last was made at 20\S+Z: \S+copy\.db/);
  expect(modeOf(statSync(`${machine.database}-last-backup`))).toBe("600");
});

test("a database that Litestream copies needs no other backup", async () => {
  const machine = machineOnDisk();
  await machine.createEndpoint();
  machine.open().exec("CREATE TABLE _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER)");
  expect((await examine(machine)).problems).toEqual([]);
});

test("a backup that is older than two intervals is a problem", async () => {
  const machine = machineOnDisk();
  machine.configure({ backup: { everyHours: 24, keep: 1, directory: "." } });
  await machine.createEndpoint();
  const name = (hoursAgo: number): string =>
    machine.path(
      `formsvc-${new Date(Date.now() - hoursAgo * HOUR_MS).toISOString().slice(0, 19).replaceAll(":", "-")}.db`,
    );
  writeFileSync(name(50), "", { mode: 0o600 });
  expect((await examine(machine)).problems.map((each) => each.name)).toEqual(["backups.age"]);
  writeFileSync(name(40), "", { mode: 0o600 });
  expect((await examine(machine)).problems).toEqual([]);
});

test("doctor looks for backups where the server makes them, whatever folder it is run in", async () => {
  const machine = machineOnDisk();
  const settings = { backup: { everyHours: 24, keep: 3, directory: "./copies" } };
  machine.configure(settings);
  await machine.createEndpoint();
  const server = await machine.serve();
  await until(() => server.lines.some((line) => line["event"] === "backup.made"));
  const elsewhere = machineOnDisk();
  elsewhere.configure({ ...settings, database: { path: machine.database } });
  expect((await examine(elsewhere)).problems).toEqual([]);
});

test("a damaged page and an oversized log are found", async () => {
  const machine = machineOnDisk();
  await machine.createEndpoint();
  const size = statSync(machine.database).size;
  const log = openSync(`${machine.database}-wal`, "w", 0o600);
  ftruncateSync(log, 300_000_000);
  closeSync(log);
  const reader = machine.open();
  reader.prepare("SELECT count(*) FROM account").get();
  expect((await examine(machine)).problems.map(({ name }) => name)).toContain("database.log");
  reader.close();
  truncateSync(machine.database, size - 4096);
  const { code, problems } = await examine(machine);
  expect(code).toBe(1);
  expect(problems.length).toBeGreaterThan(0);
});

test("webhooks that are stopped, get probes only, keep failing or ran out of attempts are found", async () => {
  const machine = machineWithBackup();
  const endpoint = await machine.createEndpoint();
  const server = await machine.serve();
  const submission = await post(server.url, endpoint.secret);
  const insertRecipient = machine.open().prepare(
    `INSERT INTO recipient (id, endpoint_id, max_spam_score, state, breaker, breaker_count, not_before, failing_since, created_at)
     VALUES (?, ?, 75, ?, ?, 0, 0, ?, 0)`,
  );
  const insertWebhook = machine
    .open()
    .prepare(
      "INSERT INTO webhook (id, url, headers, allow_private) VALUES (?, 'https://example.org/hook', '{}', 0)",
    );
  const insert = (id: string, state: string, breaker: string, failingSince: number | null): void => {
    insertRecipient.run(id, endpoint.id, state, breaker, failingSince);
    insertWebhook.run(id);
  };
  insert("wh_stopped", "stopped", "closed", null);
  insert("wh_failing", "enabled", "closed", Date.now() - 2 * HOUR_MS);
  insert("wh_probed", "enabled", "open", Date.now());
  // It fails for a moment only, and a disabled one is its owner's wish.
  insert("wh_moment", "enabled", "closed", Date.now());
  insert("wh_disabled", "disabled", "open", 1);
  machine.open().exec(`
    INSERT INTO delivery (id, submission_id, recipient_id, state, due_at)
      VALUES ('msg_01h455vb4pex5vsknk084sn02q', '${submission}', 'wh_failing', 'failed', 0);
  `);
  const { code, problems } = await examine(machine);
  expect(code).toBe(1);
  expect(problems.map(({ name, message }) => [name, /wh_\w+|\d+ deliveries/.exec(message)?.[0]])).toEqual([
    ["webhooks.receivers", "wh_failing"],
    ["webhooks.receivers", "wh_probed"],
    ["webhooks.receivers", "wh_stopped"],
    ["webhooks.failed", "1 deliveries"],
  ]);
});

test("a full disk and an older schema are found", async () => {
  const machine = machineWithBackup();
  await machine.createEndpoint();
  machine.open().pragma("user_version = 1");
  const { bavail, bsize } = statfsSync(machine.folder);
  // Full of nothing: the file is called larger than what is free.
  truncateSync(machine.database, bavail * bsize);
  const { problems } = await examine(machine);
  expect(problems.map(({ name }) => name)).toEqual(["database.schema", "disk.space"]);
});

const SHARED_MEMORY = "/dev/shm";
const hasSharedMemory = existsSync(SHARED_MEMORY) && statfsSync(SHARED_MEMORY).type === 0x01021994;
if (!hasSharedMemory) process.stderr.write("NOT TESTED: a database on tmpfs (there is no /dev/shm)\n");

test.skipIf(!hasSharedMemory)(
  "a database that a restart of the machine would take away is found",
  async () => {
    const machine = machineWithBackup();
    const folder = mkdtempSync(`${SHARED_MEMORY}/formsvc-doctor-`);
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    machine.configure({ database: { path: `${folder}/formsvc.db` } });
    await machine.createEndpoint();
    expect((await examine(machine)).problems.map(({ name }) => name)).toContain("database.durability");
  },
);

test("a machine without a database, or with another program's, is told so and left as it is", async () => {
  const machine = machineOnDisk();
  const { problems } = await examine(machine);
  expect(problems.map(({ name }) => name)).toEqual(["database.file"]);
  writeFileSync(machine.database, "something else entirely ".repeat(50));
  expect((await examine(machine)).problems[0]?.message).toContain("not a formsvc database");
});

test("the mail server is tried like by mail check, and one on this machine has nothing looked up in DNS", async () => {
  const server = await startScriptedServer();
  const machine = machineWithBackup();
  await machine.createEndpoint();
  const { host, from } = plainSettings(server.port);
  machine.configure({ mail: { host, port: server.port, from } });
  const ran = await machine.run(["doctor"]);
  expect(ran.code).toBe(0);
  expect(ran.stderr).toContain(`${host}:${server.port} would take e-mail from ${from}`);
  expect(ran.stderr).toContain("SPF, DKIM and DMARC are not looked up");
  expect(server.lines.some((line) => line.startsWith("MAIL FROM"))).toBe(true);
  expect(server.lines.filter((line) => /RCPT|DATA/.test(line))).toEqual([]);
  server.play({ MAIL: "550 not you" });
  const { problems } = await examine(machine);
  expect(problems).toMatchObject([
    { name: "mail.relay", advice: expect.stringContaining("formsvc mail check") },
  ]);
  expect(problems[0]?.message).toContain("fails at the step sender");
  const keyFile = machine.path("missing.pem");
  machine.configure({
    mail: { host, port: server.port, from, dkim: { domain: "example.com", selector: "a", keyFile } },
  });
  expect((await examine(machine)).problems.map(({ name }) => name)).toEqual(["mail.relay"]);
});
