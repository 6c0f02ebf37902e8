import { fork } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { readdirSync, statSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { migrations } from "../../src/database/migrations.generated.ts";
import { newId } from "../../src/foundation/id.ts";
import { exampleSchema } from "../support/example-schema.ts";
import { emptyOfVersion } from "../support/empty-database.ts";
import { type OperatorMachine, operatorMachine } from "../support/operator-machine.ts";
import { post, storedIds } from "../support/posts.ts";
import { whenEnded } from "../support/program.ts";
import { prepareQuickKey } from "../support/quick-key.ts";
import { goodPost, startServer } from "../support/test-server.ts";
import { until } from "../support/until.ts";

const APPLICATION_ID = 0x66737663;
/** Tables whose rows an owner has made or people have sent, by the version that brought them. */
const TABLES: readonly (readonly string[])[] = [
  ["account", "workspace", "usage", "endpoint", "endpoint_schema", "api_key", "submission", "idempotency"],
  ["webhook", "webhook_secret", "event", "delivery", "attempt"],
  ["endpoint_spam", "held"],
];

/** A database as the program of an earlier schema version left it, with something in every one of these tables. */
async function databaseOfVersion(machine: OperatorMachine, version: number) {
  writeFileSync(machine.database, emptyOfVersion(version));
  const connection = machine.open();
  connection.pragma("journal_mode = WAL");
  connection.pragma(`application_id = ${APPLICATION_ID}`);
  connection.pragma(`user_version = ${version}`);
  const now = Date.now();
  const [account, workspace, endpoint] = [newId("acct", now), newId("ws", now), newId("ep", now)];
  const key = await prepareQuickKey("secret");
  const insert: Insert = (table, row) => {
    const names = Object.keys(row);
    const sql = `INSERT INTO ${table} (${names.join(", ")}) VALUES (${names.map(() => "?").join(", ")})`;
    connection.prepare(sql).run(...Object.values(row));
  };
  insert("account", { id: account, email: "ada@example.org", created_at: now });
  insert("workspace", { id: workspace, account_id: account, name: "ada", plan: "hobby", created_at: now });
  insert("usage", { workspace_id: workspace, month: "2026-01", used: 7 });
  insert("endpoint", {
    id: endpoint,
    workspace_id: workspace,
    name: "Contact",
    state: "active",
    schema_version: 1,
    allowed_origins: "[]",
    unknown_fields: "drop",
    honeypots: '["website"]',
    created_at: now,
  });
  const definition = JSON.stringify(exampleSchema);
  insert("endpoint_schema", { endpoint_id: endpoint, version: 1, definition, created_at: now });
  const { lookup } = key.parsed;
  insert("api_key", {
    id: newId("key", now),
    endpoint_id: endpoint,
    kind: "secret",
    lookup,
    hash: key.hash,
    created_at: now,
  });
  let submission = "";
  for (let count = 0; count < 100; count += 1) {
    submission = newId("sub", now);
    insert("submission", {
      id: submission,
      ...(version < 5 ? { endpoint_id: endpoint } : { endpoint_number: 1 }),
      schema_version: 1,
      data: JSON.stringify({ name: `Ada ${count}`, email: "ada@example.org" }),
      spam_score: 0,
      spam_reasons: "[]",
      ip_address: "192.0.2.1",
      user_agent: "",
      created_at: now,
    });
  }
  const hash = Buffer.alloc(32, 1);
  insert("idempotency", {
    endpoint_id: endpoint,
    ...(version >= 8 && { kind: "secret" }),
    key_hash: hash,
    body_hash: hash,
    submission_id: newId("sub", now),
    created_at: now,
  });
  const tables = TABLES.slice(0, version)
    .flat()
    .filter((table) => version < 6 || table !== "event");
  if (version >= 2) insertDelivery(insert, version, { endpoint, submission, now });
  if (version >= 3) insertHeld(insert, { workspace, endpoint, now });
  for (const table of tables) {
    const isFilled = connection.prepare(`SELECT count(*) > 0 FROM ${table}`).pluck().get();
    expect([table, isFilled]).toEqual([table, 1]);
  }
  // Every later version must still have these columns, with what was in them.
  const columns = Object.fromEntries(
    tables.map((table) => {
      const found = connection.pragma(`table_info(${table})`) as { name: string }[];
      return [table, found.map(({ name }) => name).join(", ")];
    }),
  );
  connection.close();
  return { key: key.parsed.text, columns };
}

type Insert = (table: string, row: Record<string, unknown>) => void;

/** One that failed, so that no server touches it. */
function insertDelivery(
  insert: Insert,
  version: number,
  { endpoint, submission, now }: { endpoint: string; submission: string; now: number },
): void {
  const [webhook, message] = [newId("wh", now), newId("msg", now)];
  const http = { url: "https://example.org/hook", headers: '{"x-a":"b"}', allow_private: 0 };
  const recipient = {
    endpoint_id: endpoint,
    max_spam_score: 50,
    state: "enabled",
    breaker: "closed",
    breaker_count: 0,
    not_before: 0,
    created_at: now,
  };
  if (version >= 11) insert("recipient", { id: webhook, kind: "webhook", ...recipient });
  insert("webhook", { id: webhook, ...http, ...(version < 11 && recipient) });
  insert("webhook_secret", { webhook_id: webhook, key: Buffer.alloc(32, 7), created_at: now });
  if (version < 6) {
    insert("event", {
      submission_id: submission,
      ...(version < 5 ? { body: Buffer.from('{"a":"ü"}') } : { head: '{"a":', tail: "}" }),
    });
  }
  if (version < 5) insertBodyAround(insert, endpoint, now);
  insert("delivery", {
    id: message,
    submission_id: submission,
    [version < 11 ? "webhook_id" : "recipient_id"]: webhook,
    state: "failed",
    attempts: 13,
    spent: 13,
    due_at: now,
    finished_at: now,
    last_status: 500,
  });
  insert("attempt", {
    delivery_id: message,
    number: 13,
    started_at: now,
    duration_ms: 5,
    outcome: "status",
    status: 500,
    is_probe: 0,
  });
}

/** A submission and a body that holds its data, as every one that a server wrote does. */
function insertBodyAround(insert: Insert, endpoint: string, now: number): void {
  const id = newId("sub", now);
  const data = '{"name":"Grüße 👋"}';
  const facts = { schema_version: 1, spam_score: 0, spam_reasons: "[]", ip_address: "", user_agent: "" };
  insert("submission", { id, endpoint_id: endpoint, data, created_at: now, ...facts });
  const body = Buffer.from(`{"endpoint":{"name":"ü👋"},"submission":{"data":${data},"spam_score":0}}`);
  insert("event", { submission_id: id, body });
}

function insertHeld(
  insert: Insert,
  { workspace, endpoint, now }: { workspace: string; endpoint: string; now: number },
): void {
  insert("endpoint_spam", { endpoint_id: endpoint, choices: '{"maxLinks":1}' });
  insert("held", {
    id: newId("held", now),
    workspace_id: workspace,
    endpoint_id: endpoint,
    why: "spam",
    trapped: 0,
    schema_version: 1,
    data: '{"name":"Eve"}',
    spam_score: 90,
    spam_reasons: "[]",
    ip_address: "192.0.2.9",
    user_agent: "",
    created_at: now,
  });
}

function contentOf(machine: OperatorMachine, columns: Record<string, string>): unknown {
  const connection = machine.open();
  const version = Number(connection.pragma("user_version", { simple: true }));
  const content = Object.entries(columns).map(([table, names]) =>
    connection
      .prepare(version < migrations.length ? `SELECT ${names} FROM ${table}` : asOfNow(table, names))
      .all(),
  );
  connection.close();
  return content;
}

/** Bodies whose data are no longer kept twice. */
function splitBodies(machine: OperatorMachine): unknown {
  return machine
    .open()
    .prepare("SELECT count(event_head) AS events, count(event_tail) AS split FROM submission")
    .get();
}

/** Reads columns of an earlier version from where later ones put them. */
function asOfNow(table: string, names: string): string {
  const moved: Readonly<Record<string, string>> = {
    "submission.endpoint_id":
      "(SELECT endpoint_id FROM endpoint_number WHERE number = endpoint_number) AS endpoint_id",
    "delivery.webhook_id": "recipient_id AS webhook_id",
    "event.submission_id": "id AS submission_id",
    "event.head": "event_head AS head",
    "event.tail": "event_tail AS tail",
    "event.body":
      "CAST(iif(event_tail IS NULL, event_head, event_head || data || event_tail) AS BLOB) AS body",
  };
  const columns = names.split(", ").map((name) => moved[`${table}.${name}`] ?? name);
  const sources: Readonly<Record<string, string>> = {
    event: "submission WHERE event_head IS NOT NULL",
    webhook: "webhook JOIN recipient USING (id)",
    // Rows of earlier versions stand for both kinds of key.
    idempotency: "idempotency WHERE kind = 'secret'",
  };
  const source = sources[table] ?? table;
  return `SELECT ${columns.join(", ")} FROM ${source}`;
}

test("posts that an earlier version held are counted by address, so that those of the address with the most are deleted first", async () => {
  const machine = operatorMachine();
  const { key } = await databaseOfVersion(machine, 6);
  const connection = machine.open();
  const copy = connection.prepare(
    `INSERT INTO held SELECT ?, workspace_id, endpoint_id, why, trapped, key_hash, schema_version, data, spam_score,
       spam_reasons, ?, user_agent, created_at FROM held WHERE ip_address = '192.0.2.9'`,
  );
  for (const address of ["203.0.113.1", "203.0.113.1", "2001:db8::1"])
    copy.run(newId("held", Date.now()), address);
  const used = { month: new Date().toISOString().slice(0, 7), workspace: "SELECT id FROM workspace" };
  connection.exec(`INSERT INTO usage VALUES ((${used.workspace}), '${used.month}', 1)`);
  connection.close();
  machine.configure({
    plans: { hobby: { monthlySubmissions: 1, endpoints: null, customSpam: false } },
    held: { maxPerWorkspace: 4 },
  });
  const server = await machine.serve();
  const answer = await fetch(`${server.url}/submit`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify(goodPost),
  });
  expect(answer.status).toBe(429);
  const left = machine.open().prepare("SELECT ip_address FROM held ORDER BY ip_address").pluck().all();
  expect(left).toEqual(["127.0.0.1", "192.0.2.9", "2001:db8::1", "203.0.113.1"]);
  const texts = ["id", "data", "spam_reasons", "ip_address", "user_agent"];
  const real = `SELECT sum(${texts.map((name) => `octet_length(${name})`).join(" + ")}) FROM held`;
  const isCounted = `SELECT sum(bytes) = (${real}) FROM held_total`;
  expect(machine.open().prepare(isCounted).pluck().get()).toBe(1);
});

describe.each(migrations.map(({ version }) => version))("a database of schema version %i", (version) => {
  test("is carried to the newest with everything in it, and its key still posts", async () => {
    const machine = operatorMachine();
    const { key, columns } = await databaseOfVersion(machine, version);
    const before = contentOf(machine, columns);

    const server = await machine.serveHere();
    expect(contentOf(machine, columns)).toEqual(before);
    if (version >= 2 && version < 5) expect(splitBodies(machine)).toEqual({ events: 2, split: 1 });
    const known = storedIds(machine.database);
    const id = await post(server.url, key);
    expect(storedIds(machine.database)).toEqual(new Set([...known, id]));
    await server.stop();
    expect(machine.open().pragma("user_version", { simple: true })).toBe(migrations.length);
    expect(machine.open().pragma("foreign_key_check")).toEqual([]);

    const copies = readdirSync(machine.folder).filter((name) => name.includes(".schema-"));
    expect(copies).toEqual(version === migrations.length ? [] : [`formsvc.db.schema-${version}`]);
    for (const copy of copies) expect(storedIds(machine.path(copy))).toEqual(known);
  });
});

/** The first version, and the first one with something in every table. */
test.each([1, 3])(
  "a dry run from version %i goes through every migration, and leaves the file as it is",
  async (version) => {
    const machine = operatorMachine();
    const { columns } = await databaseOfVersion(machine, version);
    const before = contentOf(machine, columns);
    const said = { version, latest: migrations.length, dry_run: true };
    expect(await machine.json(["migrate", "up", "--dry-run"])).toMatchObject(said);
    expect(machine.open().pragma("user_version", { simple: true })).toBe(version);
    expect(contentOf(machine, columns)).toEqual(before);
  },
);

/** More than the cache of a connection holds, so that a migration writes to the log before it commits. */
const MANY = 45_000;

test("a server killed in the middle of a migration loses nothing, and the next start migrates once", async () => {
  const machine = operatorMachine();
  const older = 4;
  await databaseOfVersion(machine, older);
  const connection = machine.open();
  connection.exec(`
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${MANY})
    INSERT INTO submission
        (id, endpoint_id, schema_version, data, spam_score, spam_reasons, ip_address, user_agent, created_at)
      SELECT 'sub_' || i, (SELECT id FROM endpoint), 1, json_object('message', hex(randomblob(250))), 0, '[]', '', '', i
      FROM n`);
  connection.close();
  const [known, content] = [storedIds(machine.database), digest(machine)];

  const log = `${machine.database}-wal`;
  const server = machine.start(["serve"]);
  await until(() => (statSync(log, { throwIfNoEntry: false })?.size ?? 0) > 4_000_000);
  server.kill("SIGKILL");
  await whenEnded(server);
  expect(machine.open().pragma("user_version", { simple: true })).toBe(older);
  expect(storedIds(machine.database)).toEqual(known);

  const { applied } = (await machine.mustRun(["migrate", "up", "--json"])).json() as { applied: string[] };
  expect(applied).toEqual(migrations.slice(older).map(({ name }) => name));
  expect(storedIds(machine.database)).toEqual(known);
  expect(digest(machine)).toBe(content);
  expect(machine.open().pragma("integrity_check", { simple: true })).toBe("ok");
  expect((await machine.mustRun(["migrate", "up", "--json"])).json()).toMatchObject({ applied: [] });
});

/** Of all that was posted, in its order. */
function digest(machine: OperatorMachine): string {
  const connection = machine.open();
  const hash = createHash("sha256");
  for (const data of connection.prepare("SELECT id || data FROM submission ORDER BY seq").pluck().iterate()) {
    hash.update(String(data));
  }
  connection.close();
  return hash.digest("hex");
}

test("a newer command does not upgrade a database under a server of an older version, and does once that is gone", async () => {
  const machine = operatorMachine();
  const older = migrations.length - 1;
  await databaseOfVersion(machine, older);
  const server = fork(fileURLToPath(new URL("../support/hold-server-lock.ts", import.meta.url)), [
    machine.database,
  ]);
  onTestFinished(() => void server.kill("SIGKILL"));
  await once(server, "message");
  for (const line of ["endpoint list", "migrate up"]) {
    const ran = await machine.run(line.split(" "));
    expect([line, ran.code]).toEqual([line, 5]);
    expect(ran.stderr).toMatch(/served by process \d+, .*restart the server with this one first/);
  }
  expect((await machine.mustRun(["migrate", "status"])).stdout).toBe(`${older} of ${migrations.length}\n`);
  server.kill("SIGKILL");
  await once(server, "exit");
  await machine.mustRun(["endpoint", "list"]);
  expect(machine.open().pragma("user_version", { simple: true })).toBe(migrations.length);
});

test("a server whose database a newer program upgrades answers 503 from then on, and says so once", async () => {
  const server = await startServer();
  const endpoint = await server.addEndpoint();
  const ready = async () => (await server.request({ method: "GET", path: "/readyz" })).status;
  expect(await ready()).toBe(200);
  server.owner.execute(`PRAGMA user_version = ${migrations.length + 1}`);
  await until(async () => (await server.post(endpoint.secret, goodPost)).status === 503);
  const taken = server.stored(endpoint.id).length;
  expect((await server.post(endpoint.secret, goodPost)).status).toBe(503);
  expect(await ready()).toBe(503);
  expect(server.stored(endpoint.id)).toHaveLength(taken);
  expect(server.log.filter((line) => line.includes("database.upgraded"))).toHaveLength(1);
});

test("a database from a newer version is refused by every command with the reason, and left as it is", async () => {
  const machine = operatorMachine();
  await machine.createEndpoint();
  const newer = migrations.length + 1;
  machine.open().pragma(`user_version = ${newer}`);
  for (const args of [
    ["serve"],
    ["migrate", "up"],
    ["migrate", "status"],
    ["endpoint", "list"],
    ["migrate", "up", "--dry-run"],
  ]) {
    const ran = await machine.run(args);
    expect([args, ran.code]).toEqual([args, 5]);
    expect(ran.stderr).toContain(`made by a newer formsvc (schema ${newer}`);
  }
  expect(machine.open().pragma("user_version", { simple: true })).toBe(newer);
});
