import { revokeKey } from "../../src/keys/issue-key.ts";
import { listKeys } from "../../src/keys/key-store.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openRaw, splitAnswers, type Answer, type RawConnection } from "../support/http-client.ts";
import { goodPost, launchServer, type TestEndpoint, type TestServer } from "../support/test-server.ts";
import { setTimeout as sleep } from "node:timers/promises";
import { until } from "../support/until.ts";
import { changeEndpoint } from "../support/terminal.ts";

/** What the headers of a post tell is answered before a byte of its body has come. */
let server: TestServer;
let open: TestEndpoint;
let paused: TestEndpoint;
const UNKNOWN = "fpk_0000000000000000000000000000000000000000000000000000";
const body = JSON.stringify(goodPost);
const OWN = "https://shop.example";
const STRANGE = "https://elsewhere.example";

beforeAll(async () => {
  server = await launchServer({ rateLimit: { publishable: { max: 2, windowSeconds: 3600 } } });
  open = await server.addEndpoint();
  paused = await server.addEndpoint();
  server.owner.execute(`UPDATE endpoint SET state = 'paused' WHERE id = '${paused.id}'`);
});
afterAll(() => server.stop());

function head(path: string, headers: Readonly<Record<string, string | number>>): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return [`POST ${path} HTTP/1.1`, "Host: a", ...lines, "", ""].join("\r\n");
}

function submit(key: string, headers: Readonly<Record<string, string | number>> = {}): string {
  return head("/submit", {
    Authorization: `Bearer ${key}`,
    "Content-Type": "application/json",
    "Content-Length": body.length,
    ...headers,
  });
}

function form(key: string, headers: Readonly<Record<string, string | number>> = {}): string {
  return head(`/f/${key}`, {
    "Content-Type": "application/x-www-form-urlencoded",
    "Content-Length": 100,
    ...headers,
  });
}

async function firstAnswer(connection: RawConnection): Promise<Answer> {
  await until(() => connection.received().includes("\r\n\r\n"));
  const [answer] = splitAnswers(connection.received());
  if (answer === undefined) throw new Error("no answer");
  return answer;
}

async function answerTo(text: string): Promise<Answer> {
  const connection = await openRaw(server.port);
  connection.write(text);
  const answer = await firstAnswer(connection);
  connection.socket.destroy();
  return answer;
}

describe("before its body comes, a post is refused", () => {
  test.each([
    ["for no key", 401, () => head("/submit", { "Content-Type": "application/json", "Content-Length": 9 })],
    ["for an unknown key", 401, () => submit(UNKNOWN)],
    ["for an unknown key, whatever size it comes in", 401, () => chunked(submit(UNKNOWN))],
    ["for the size that it announces", 413, () => submit(open.secret, { "Content-Length": 65_537 })],
    ["for its size before its key", 413, () => submit(UNKNOWN, { "Content-Length": 65_537 })],
    ["for its compression", 415, () => submit(open.secret, { "Content-Encoding": "gzip" })],
    ["for its endpoint, which is paused", 403, () => submit(paused.secret)],
    ["for a secret key that a browser sends", 403, () => submit(open.secret, { Origin: OWN })],
    ["for a form's unknown key", 401, () => form(UNKNOWN)],
    ["for the size that a form announces", 413, () => form(open.publishable, { "Content-Length": 65_537 })],
    ["for a form's compression", 415, () => form(open.publishable, { "Content-Encoding": "br" })],
    ["for a form's endpoint, which is paused", 403, () => form(paused.publishable)],
  ])("%s", async (_why, status, text) => {
    expect((await answerTo(text())).status).toBe(status);
  });

  test.each([
    ["a post", submit],
    ["a form", form],
  ])("for the limit of its address, %s", async (_what, render) => {
    const { publishable } = await server.addEndpoint();
    for (let used = 0; used < 2; used += 1) await server.post(publishable, goodPost);
    const answer = await answerTo(render(publishable));
    expect([answer.status, Number(answer.headers["retry-after"]) > 0]).toEqual([429, true]);
  });
});

test("a page's origin that is not allowed refuses before the body comes, once as many as can be held were read", async () => {
  const shop = await server.addEndpoint({ settings: { allowedOrigins: [OWN] } });
  const exempt = { Origin: STRANGE, Connection: "close" };
  // Its body is read, so that it can be held: no answer comes before it.
  const waiting = await openRaw(server.port);
  waiting.write(submit(shop.publishable, { Origin: STRANGE }));
  await sleep(200);
  expect(waiting.received()).toBe("");
  waiting.write(body);
  expect((await firstAnswer(waiting)).status).toBe(403);
  waiting.socket.destroy();
  expect(server.owner.prepare("SELECT count(*) FROM held WHERE why = 'origin'").pluck().get()).toBe(1);
  const ignored = await server.addEndpoint({ settings: { allowedOrigins: [OWN] } });
  server.owner.execute(
    `INSERT INTO refused_origin (endpoint_id, origin, posts, last_at, ignored) VALUES ('${ignored.id}', '${STRANGE}', 1, 1, 1)`,
  );
  expect((await answerTo(submit(ignored.publishable, exempt))).status).toBe(403);
  expect((await answerTo(form(ignored.publishable, exempt))).status).toBe(403);
});

test("a client that was refused before its body may send the body and ask again on the same connection", async () => {
  const connection = await openRaw(server.port);
  connection.write(submit(UNKNOWN));
  expect((await firstAnswer(connection)).status).toBe(401);
  connection.write(body + submit(open.secret, { Connection: "close" }) + body);
  expect(splitAnswers(await connection.closed).map(({ status }) => status)).toEqual([401, 200]);
});

test("a form's own page for errors is shown for what its headers tell, too", async () => {
  const errorUrl = `${OWN}/error`;
  const { publishable } = await server.addEndpoint({ settings: { allowedOrigins: [OWN], errorUrl } });
  const answer = await answerTo(form(publishable, { Origin: STRANGE, "Content-Length": 0 }));
  expect([answer.status, answer.headers["location"]]).toEqual([303, `${errorUrl}?error=refused`]);
});

test("a form on our own page is judged by the origin that its body tells", async () => {
  const fields = `name=Ada&email=ada%40example.org&_origin=${encodeURIComponent(OWN)}`;
  const { publishable } = await server.addEndpoint({ settings: { allowedOrigins: [OWN] } });
  const headers = { Origin: "http://a", "Content-Length": fields.length, Connection: "close" };
  const connection = await openRaw(server.port);
  connection.write(form(publishable, headers) + fields);
  expect(splitAnswers(await connection.closed)[0]?.status).toBe(200);
});

test.each([
  ["its key is revoked", 401, revokeSecret],
  [
    "its endpoint is paused",
    403,
    (id: string) => server.owner.now(() => changeEndpoint(id, { state: "paused" })),
  ],
])("a body that comes after %s is refused", async (_what, status, change) => {
  const { id, secret } = await server.addEndpoint();
  const connection = await openRaw(server.port);
  connection.write(submit(secret, { Connection: "close" }) + body.slice(0, 5));
  // It is answered after the headers above were read.
  expect((await server.post(secret, goodPost)).status).toBe(200);
  change(id);
  await until(async () => (await server.post(secret, goodPost)).status === status);
  connection.write(body.slice(5));
  expect(splitAnswers(await connection.closed)[0]?.status).toBe(status);
});

function revokeSecret(endpointId: string): void {
  const key = server.owner.now(() => listKeys(endpointId)).find(({ kind }) => kind === "secret");
  server.owner.now(() => revokeKey(key!.id, server.clock.now()));
}

function chunked(text: string): string {
  return text.replace(/Content-Length: \d+/, "Transfer-Encoding: chunked");
}
