import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openDatabase } from "../../src/database/sqlite/open-database.ts";
import { migrate } from "../../src/database/migrate.ts";
import { migrations } from "../../src/database/migrations.generated.ts";
import { newId } from "../../src/foundation/id.ts";
import type { KeyKind } from "../../src/keys/key-format.ts";
import {
  createIdempotencyMemory,
  forgetExpired,
  type IdempotentPost,
  readIdempotencyKey,
} from "../../src/submissions/commit/idempotency.ts";
import { NOON } from "../support/fake-clock.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { goodPost, startServer } from "../support/test-server.ts";
import { replaceKey } from "../support/terminal.ts";
import { DAY_MS } from "../../src/foundation/time-units.ts";

/** The schema of the database before secret and publishable keys had Idempotency-Keys of their own. */
const VERSION_BEFORE_KINDS = 7;
const KEY = { "idempotency-key": "order-4711" };

test("the same key with the same bytes gets the first answer again and stores nothing more", async () => {
  const server = await startServer();
  const { id, secret } = await server.addEndpoint();
  const issued = await replaceKey(server.owner, { key: secret, graceMs: 60_000 }, server.clock.now());
  const first = await server.post(secret, goodPost, KEY);
  const again = await server.post(secret, goodPost, KEY);
  const withSuccessor = await server.post(issued.text, goodPost, KEY);
  expect(first.status).toBe(200);
  expect(again.json).toEqual(first.json);
  expect(withSuccessor.json).toEqual(first.json);
  expect(server.stored(id)).toHaveLength(1);
});

test("somebody with a page's key cannot use up an Idempotency-Key of the backend, with any body", async () => {
  const server = await startServer();
  const { id, secret, publishable } = await server.addEndpoint();
  const backend = { "idempotency-key": "order-4712" };
  const taken = [
    await server.post(publishable, { ...goodPost, name: "Mallory" }, KEY),
    await server.post(publishable, goodPost, backend),
  ];
  const wanted = [await server.post(secret, goodPost, KEY), await server.post(secret, goodPost, backend)];
  const all = [...taken, ...wanted];
  expect(all.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  expect(new Set(all.map(({ json }) => json["submission_id"])).size).toBe(4);
  expect((await server.post(secret, goodPost, KEY)).json).toEqual(wanted[0]?.json);
  expect(server.stored(id)).toHaveLength(4);
});

test("nor does a blocked post from a page keep the backend's from being held", async () => {
  const server = await startServer();
  const { publishable, secret } = await server.addEndpoint();
  for (const key of [publishable, secret, secret]) {
    expect((await server.post(key, { ...goodPost, _gotcha: "x" }, KEY)).status).toBe(429);
  }
  expect(server.owner.prepare("SELECT count(*) FROM held").pluck().get()).toBe(2);
});

test("a key that was used before the kinds were told apart gives the first answer to both", async () => {
  const db = openDatabase(join(temporaryFolder(), "formsvc.db"), { busyTimeoutMs: 1000 });
  onTestFinished(() => db.close());
  migrate(db, migrations.slice(0, VERSION_BEFORE_KINDS));
  const endpointId = newId("ep", NOON);
  // Our own statements name the columns of today.
  db.execute(`
    INSERT INTO account VALUES ('acct_1', 'ada@example.org', ${NOON});
    INSERT INTO workspace VALUES ('ws_1', 'acct_1', 'ada', 'hobby', ${NOON});
    INSERT INTO endpoint (id, workspace_id, name, state, schema_version, allowed_origins, unknown_fields, created_at)
      VALUES ('${endpointId}', 'ws_1', 'Contact', 'active', 1, '[]', 'drop', ${NOON});
  `);
  const body = Buffer.from("{}");
  const post = (kind: KeyKind) =>
    readIdempotencyKey("order-4711", { endpointId, kind }, body) as IdempotentPost;
  const { keyHash, bodyHash } = post("secret");
  db.prepare("INSERT INTO idempotency VALUES (?, ?, ?, 'sub_1', ?)").run(endpointId, keyHash, bodyHash, NOON);
  migrate(db);
  const memory = createIdempotencyMemory(db);
  for (const kind of ["secret", "publishable"] as const) {
    expect(await memory.recall(post(kind), NOON + 1)).toBe("sub_1");
    expect(await memory.recall(post(kind), NOON + DAY_MS)).toBeNull();
  }
});

test("the same key with other bytes is a conflict, even if the data is the same", async () => {
  const server = await startServer();
  const { id, secret } = await server.addEndpoint();
  await server.post(secret, goodPost, KEY);
  const other = await server.post(secret, `${JSON.stringify(goodPost)} `, KEY);
  expect([other.status, other.json["error"]]).toEqual([409, "Conflict"]);
  expect(server.stored(id)).toHaveLength(1);
});

test("the same key on another endpoint is another key", async () => {
  const server = await startServer();
  const [one, other] = await Promise.all([server.addEndpoint(), server.addEndpoint()]);
  const answers = [
    await server.post(one.secret, goodPost, KEY),
    await server.post(other.secret, goodPost, KEY),
  ];
  expect(new Set(answers.map(({ json }) => json["submission_id"])).size).toBe(2);
});

test("of many posts at once with one key one is stored, and the others get its answer or a conflict", async () => {
  const server = await startServer();
  const { id, secret } = await server.addEndpoint();
  const answers = await Promise.all(Array.from({ length: 30 }, () => server.post(secret, goodPost, KEY)));
  const ids = new Set(
    answers.filter(({ status }) => status === 200).map(({ json }) => json["submission_id"]),
  );
  expect(ids.size).toBe(1);
  for (const answer of answers.filter(({ status }) => status !== 200)) {
    expect([answer.status, answer.headers["retry-after"]]).toEqual([409, "1"]);
  }
  expect(server.stored(id)).toHaveLength(1);
});

test("a replay is answered over the monthly limit too, and counts nothing", async () => {
  const server = await startServer({
    plans: { one: { monthlySubmissions: 1, endpoints: null, customSpam: false } },
  });
  const { secret } = await server.addEndpoint({ plan: "one" });
  const first = await server.post(secret, goodPost, KEY);
  expect((await server.post(secret, goodPost)).json["error"]).toBe("Submission limit exceeded");
  expect((await server.post(secret, goodPost, KEY)).json).toEqual(first.json);
  expect(server.owner.prepare("SELECT used FROM usage").pluck().all()).toEqual([1]);
});

test("refusals are not remembered: the key is free for a corrected post", async () => {
  const server = await startServer();
  const { id, secret } = await server.addEndpoint();
  for (const refused of ["{", {}, { ...goodPost, _gotcha: "x" }]) {
    expect((await server.post(secret, refused, KEY)).status).toBeGreaterThanOrEqual(400);
  }
  expect((await server.post(secret, goodPost, KEY)).status).toBe(200);
  expect(server.stored(id)).toHaveLength(1);
});

test("a key is remembered for 24 hours, across a restart, and is new after that", async () => {
  const server = await startServer();
  const { id, secret } = await server.addEndpoint();
  const first = await server.post(secret, goodPost, KEY);
  await server.restart();
  server.clock.advance(DAY_MS - 1);
  expect((await server.post(secret, goodPost, KEY)).json).toEqual(first.json);
  server.clock.advance(1);
  const second = await server.post(secret, { ...goodPost, name: "Other" }, KEY);
  expect(second.status).toBe(200);
  expect(second.json["submission_id"]).not.toBe(first.json["submission_id"]);
  expect(server.stored(id)).toHaveLength(2);
  expect((await server.post(secret, { ...goodPost, name: "Other" }, KEY)).json).toEqual(second.json);
});

test("expired keys are cleaned up in steps of 500, and no others", async () => {
  const server = await startServer();
  const { id } = await server.addEndpoint();
  const now = server.clock.now();
  server.owner.transactionNow(() => {
    const insert = server.owner.prepare("INSERT INTO idempotency VALUES (?, 'secret', ?, ?, ?, ?)");
    for (let row = 0; row < 603; row += 1) {
      const age = row < 600 ? DAY_MS : DAY_MS - 1;
      insert.run(id, Buffer.from(`key ${row}`), Buffer.alloc(32), "sub", now - age);
    }
  });
  const forget = () => server.owner.now(() => forgetExpired(now));
  expect([forget(), forget(), forget()]).toEqual([500, 100, 0]);
  expect(server.owner.prepare("SELECT count(*) FROM idempotency").pluck().get()).toBe(3);
});

test("neither the key nor the body is stored, only their hashes", async () => {
  const server = await startServer();
  const { secret } = await server.addEndpoint();
  await server.post(secret, goodPost, { "idempotency-key": "a-very-telling-key" });
  const row = server.owner.prepare("SELECT key_hash, body_hash FROM idempotency").get() as Record<
    string,
    Buffer
  >;
  expect(Object.values(row).map((hash) => hash.length)).toEqual([32, 32]);
});
