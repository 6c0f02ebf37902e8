import { describe, expect, test } from "vitest";
import type { Database } from "../../src/database/database.ts";
import { claimKey, dropOldAnswers, keepAnswer, recallAnswer } from "../../src/operations/kept-answers.ts";
import { exampleSchema } from "../support/example-schema.ts";
import { insertAccountRows } from "../../src/workspaces/workspace-store.ts";
import { type Ask, askWith, makeToken } from "../support/api-client.ts";
import { ENGINES, rowsOf, write } from "../support/engines.ts";
import { NOON } from "../support/fake-clock.ts";
import { startServer, type TestServer } from "../support/test-server.ts";
import { DAY_MS } from "../../src/foundation/time-units.ts";

const body = { name: "Shop", schema: exampleSchema };

const SCOPES_OF_FORM = ["endpoints:read", "endpoints:write", "submissions:read"] as const;

const endpoints = (server: TestServer): unknown =>
  server.owner.prepare("SELECT count(*) FROM endpoint WHERE name = 'Shop'").pluck().get();

test("a repeated POST does nothing more, and answers the same without the secrets, which are nowhere at rest", async () => {
  const server = await startServer();
  const { workspaceId } = await server.addEndpoint();
  const ask = askWith(server, await makeToken(server));
  const post = (headers: Record<string, string>) => ask("POST", "/endpoints", { body, headers });
  const first = await post({ "idempotency-key": "one" });
  const { endpoint, keys } = first.json as {
    endpoint: object;
    keys: { secret: string; publishable: string };
  };
  const again = await post({ "idempotency-key": "one" });
  expect([again.status, again.json]).toEqual([201, { endpoint, secrets_shown: true }]);
  expect(endpoints(server)).toBe(1);
  const stored = JSON.stringify(server.owner.prepare("SELECT * FROM api_answer").all());
  for (const text of Object.values(keys)) expect(stored).not.toContain(text.slice(4));
  // With another body, and of another owner.
  const other = await ask("POST", "/endpoints", {
    body: { ...body, name: "Else" },
    headers: { "idempotency-key": "one" },
  });
  expect([other.status, other.json]).toMatchObject([409, { code: "conflict" }]);
  const service = askWith(
    server,
    await makeToken(server, ["endpoints:write", "submissions:read"], { workspace: workspaceId }),
  );
  expect((await service("POST", "/endpoints", { body, headers: { "idempotency-key": "one" } })).status).toBe(
    201,
  );
  expect((await post({ "idempotency-key": "two" })).status).toBe(201);
  await post({});
  expect(endpoints(server)).toBe(4);
  // After a restart too.
  await server.restart();
  expect((await post({ "idempotency-key": "one" })).json).toMatchObject({ secrets_shown: true });
});

test("a repeated rotation does not rotate again, and a refused request leaves its key free", async () => {
  const server = await startServer();
  const form = await server.addEndpoint();
  const ask = askWith(server, await makeToken(server));
  const listed = (await ask("GET", `/endpoints/${form.id}/keys`)).json as {
    data: { id: string; kind: string }[];
  };
  const secret = listed.data.find(({ kind }) => kind === "secret")?.id ?? "";
  const rotate = (headers: Record<string, string>) =>
    ask("POST", `/keys/${secret}/rotate`, { body: { grace_ms: 0 }, headers });
  const first = await rotate({ "idempotency-key": "turn" });
  const { key } = first.json as { key: object };
  expect((await rotate({ "idempotency-key": "turn" })).json).toEqual({ key, secrets_shown: true });
  expect((await rotate({})).status).toBe(409);
  const wrong = { body: { name: "", schema: exampleSchema }, headers: { "idempotency-key": "free" } };
  expect((await ask("POST", "/endpoints", wrong)).status).toBe(400);
  const right = { body, headers: { "idempotency-key": "free" } };
  expect((await ask("POST", "/endpoints", right)).status).toBe(201);
});

test("tokens of the endpoints of one workspace have its keys of a day together, and none gets the answer of another's", async () => {
  const server = await startServer();
  const [one, two] = [await server.addEndpoint(), await server.addEndpoint()];
  expect(one.workspaceId).toBe(two.workspaceId);
  const bound = async (endpoint: string) =>
    askWith(server, await makeToken(server, SCOPES_OF_FORM, { endpoint }));
  const [askOne, askTwo] = [await bound(one.id), await bound(two.id)];
  const headers = { "idempotency-key": "one" };
  const issue = (ask: Ask, { id }: { id: string }) =>
    ask("POST", `/endpoints/${id}/keys`, { body: { kind: "publishable" }, headers });
  expect((await issue(askOne, one)).status).toBe(201);
  expect((await issue(askTwo, one)).status).toBe(404);
  expect((await issue(askTwo, two)).status).toBe(201);
  server.owner.execute(`INSERT INTO api_answer
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9998)
    SELECT owner, operation, CAST(i AS BLOB), body_hash, status, answer, created_at FROM n, (SELECT * FROM api_answer LIMIT 1)`);
  for (const [ask, form] of [
    [askOne, one],
    [askTwo, two],
  ] as const) {
    const path = `/endpoints/${form.id}/keys`;
    const more = await ask("POST", path, {
      body: { kind: "publishable" },
      headers: { "idempotency-key": "two" },
    });
    expect([more.status, more.json]).toMatchObject([429, { code: "rate_limited" }]);
  }
});

test("a request that is limited by Formsvc-Only gets no answer that was given outside of its part", async () => {
  const server = await startServer();
  const [one, two] = [await server.addEndpoint(), await server.addEndpoint()];
  const ask = askWith(server, await makeToken(server));
  const issue = async (only: string | null) => {
    const headers = { "idempotency-key": "one", ...(only !== null && { "formsvc-only": only }) };
    const path = `/endpoints/${one.id}/keys`;
    return (await ask("POST", path, { body: { kind: "publishable" }, headers })).json;
  };
  const whole = await issue(null);
  expect(await issue(two.id)).toMatchObject({ code: "not_found" });
  const ofPart = await issue(one.id);
  const ofWorkspace = await issue(one.workspaceId);
  const ids = [whole, ofPart, ofWorkspace].map((made) => (made as { key: { id: string } }).key.id);
  expect(new Set(ids).size).toBe(3);
  expect(await issue(one.id)).toMatchObject({ key: { id: ids[1] }, secrets_shown: true });
});

test("of many requests at once with one key, one is done", async () => {
  const server = await startServer();
  await server.addEndpoint();
  const ask = askWith(server, await makeToken(server));
  const headers = { "idempotency-key": "crowd" };
  const answers = await Promise.all(
    Array.from({ length: 8 }, () => ask("POST", "/endpoints", { body, headers })),
  );
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
  const withKeys = answers.filter((answer) => "keys" in (answer.json as object));
  expect([withKeys.length, endpoints(server)]).toEqual([1, 1]);
});

describe.each(ENGINES)("on $name", ({ temporary }) => {
  const asked = {
    owner: "acct_1",
    operation: "endpoint.create",
    keyHash: Buffer.alloc(32, 1),
    bodyHash: Buffer.alloc(32, 2),
  };
  const recall = (db: Database, now: number) => db.read(() => recallAnswer(asked, now));

  test("an answer is kept for 24 hours with the work that it is of, and one without an end is no answer", async () => {
    const db = await temporary();
    const failing = db.transaction(function* () {
      yield* claimKey(asked, NOON);
      yield* keepAnswer(asked, { status: 201, answer: { a: 1 } });
      throw new Error("stopped");
    });
    await expect(failing).rejects.toThrow("stopped");
    expect(await recall(db, NOON)).toBeNull();
    await db.transaction(() => claimKey(asked, NOON));
    await expect(recall(db, NOON)).rejects.toMatchObject({ code: "conflict" });
    await db.transaction(() => keepAnswer(asked, { status: 201, answer: { a: 1 } }));
    expect(await recall(db, NOON + DAY_MS - 1)).toEqual({ status: 201, answer: { a: 1 } });
    await expect(db.transaction(() => claimKey(asked, NOON))).rejects.toMatchObject({
      kept: { status: 201 },
    });
    expect(await recall(db, NOON + DAY_MS)).toBeNull();
    expect(await db.transaction(() => dropOldAnswers(NOON + DAY_MS - 1))).toBe(0);
    await db.transaction(() => claimKey(asked, NOON + DAY_MS));
    expect(await db.transaction(() => dropOldAnswers(NOON + 2 * DAY_MS))).toBe(1);
    await db.transaction(() => claimKey(asked, NOON));
    await db.transaction(() => keepAnswer(asked, { status: 200, answer: "x".repeat(300_000) }));
    await expect(recall(db, NOON)).rejects.toMatchObject({ code: "conflict" });
  });

  test("an owner has 10,000 keys a day", async () => {
    const db = await temporary();
    await db.transaction(() => insertAccountRows("ada@example.com", NOON));
    const number = db.engine === "sqlite" ? "CAST(i AS BLOB)" : "convert_to(i::text, 'UTF8')";
    const rows = `SELECT 'acct_1', 'a.b', ${number}, ${number}, 200, NULL, ${NOON} FROM n`;
    const numbers = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000)";
    await write(
      db,
      db.engine === "sqlite"
        ? `${numbers} INSERT INTO api_answer ${rows}`
        : `INSERT INTO api_answer ${numbers} ${rows}`,
    );
    await expect(db.transaction(() => claimKey(asked, NOON))).rejects.toMatchObject({ code: "rate_limited" });
    await db.transaction(() => claimKey({ ...asked, owner: "acct_2" }, NOON));
    expect(await rowsOf(db, "SELECT count(*) AS keys FROM api_answer")).toEqual([{ keys: 10_001 }]);
  });

  test("an owner has 16 MiB of kept answers a day, and others have theirs", async () => {
    const db = await temporary();
    await db.transaction(() => insertAccountRows("ada@example.com", NOON));
    const answer = "x".repeat(262_000);
    const keep = (owner: string, number: number): Promise<void> =>
      db.transaction(function* () {
        const request = { ...asked, owner, keyHash: Buffer.from(String(number)) };
        yield* claimKey(request, NOON);
        yield* keepAnswer(request, { status: 200, answer });
      });
    for (let number = 0; number < 65; number += 1) await keep("acct_1", number);
    await expect(keep("acct_1", 65)).rejects.toMatchObject({
      code: "rate_limited",
      message: expect.stringContaining("16 MiB") as string,
    });
    await keep("acct_2", 0);
    expect(await rowsOf(db, "SELECT count(*) AS keys FROM api_answer")).toEqual([{ keys: 66 }]);
  });
});
