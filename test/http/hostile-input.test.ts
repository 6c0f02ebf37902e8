import { afterAll, beforeAll, expect, test } from "vitest";
import { exchangeRaw, openRaw, splitAnswers } from "../support/http-client.ts";
import { goodPost, launchServer, startServer, type TestServer } from "../support/test-server.ts";
import { until } from "../support/until.ts";

let server: TestServer;
let head: string;
const body = JSON.stringify(goodPost);

beforeAll(async () => {
  server = await launchServer({ server: { requestTimeoutMs: 500, bodyLimitBytes: 1024 } });
  const { secret } = await server.addEndpoint();
  head = `POST /submit HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${secret}\r\nContent-Type: application/json\r\n`;
});
afterAll(() => server.stop());

const garbage = Buffer.from(Array.from({ length: 4096 }, (_, index) => (index * index * 31 + 7) % 256));
const chunk = (text: string, extension = ""): string =>
  `${text.length.toString(16)}${extension}\r\n${text}\r\n`;

/** What is written, and every status that comes back until the server closes the connection. */
const inputs: readonly (readonly [
  name: string,
  bytes: () => string | Buffer,
  statuses: readonly number[],
])[] = [
  ["noise", () => garbage, [400]],
  ["zero bytes", () => Buffer.alloc(100), [400]],
  ["a TLS hello", () => Buffer.from("16030100f0010000ec0303", "hex"), [400]],
  ["an HTTP/2 preface", () => "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", [400]],
  ["a line without a version", () => "POST\r\n\r\n", [400]],
  ["an unknown method", () => "SMUGGLE /submit HTTP/1.1\r\nHost: a\r\n\r\n", [400]],
  ["a method in small letters", () => "post /submit HTTP/1.1\r\nHost: a\r\n\r\n", [400]],
  ["a tunnel", () => "CONNECT a.example:443 HTTP/1.1\r\nHost: a\r\n\r\n", [400]],
  [
    "an upgrade",
    () => `${head}Connection: Upgrade, close\r\nUpgrade: h2c\r\nContent-Length: 2\r\n\r\n{}`,
    [400],
  ],
  ["a version far ahead", () => "GET /healthz HTTP/9.9\r\nHost: a\r\n\r\n", [400]],
  ["bare line feeds", () => "GET /healthz HTTP/1.1\nHost: a\n\n", [400]],
  ["a header without a colon", () => "GET /healthz HTTP/1.1\r\nHost a\r\n\r\n", [400]],
  ["a header with a blank before its colon", () => `${head}Content-Length : 2\r\n\r\n{}`, [400]],
  ["a folded header", () => "GET /healthz HTTP/1.1\r\nX: a\r\n b\r\nConnection: close\r\n\r\n", [400]],
  ["a header with a zero byte", () => "GET /healthz HTTP/1.1\r\nX: a\0b\r\n\r\n", [400]],
  ["a header with a lone carriage return", () => "GET /healthz HTTP/1.1\r\nX: a\rb\r\n\r\n", [400]],
  ["an address with a blank", () => "GET /health z HTTP/1.1\r\nHost: a\r\n\r\n", [400]],
  ["headers over 16 KiB", () => `GET /healthz HTTP/1.1\r\n${"X: y\r\n".repeat(3000)}\r\n`, [431]],
  [
    "thousands of header lines within 16 KiB",
    () => `GET /healthz HTTP/1.1\r\nConnection: close\r\n${"X: \r\n".repeat(3200)}\r\n`,
    [200],
  ],
  ["endless short headers", () => `GET /healthz HTTP/1.1\r\n${"X:\r\n".repeat(100_000)}`, [431]],
  ["an address over 16 KiB", () => `GET /${"a".repeat(20_000)} HTTP/1.1\r\n\r\n`, [431]],
  ["a negative Content-Length", () => `${head}Content-Length: -1\r\n\r\n`, [400]],
  ["a Content-Length that is no number", () => `${head}Content-Length: 0x10\r\n\r\n${body}`, [400]],
  ["a Content-Length with a sign", () => `${head}Content-Length: +2\r\n\r\n{}`, [400]],
  ["a Content-Length beyond 64 bits", () => `${head}Content-Length: 99999999999999999999\r\n\r\n{}`, [400]],
  ["a huge Content-Length without a body", () => `${head}Content-Length: 9007199254740991\r\n\r\n`, [413]],
  ["two different Content-Lengths", () => `${head}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{} `, [400]],
  ["a list of Content-Lengths", () => `${head}Content-Length: 2, 2\r\n\r\n{}`, [400]],
  [
    "Content-Length and chunks (CL.TE)",
    () => `${head}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    [400],
  ],
  [
    "chunks and Content-Length (TE.CL)",
    () => `${head}Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n`,
    [400],
  ],
  ["chunked twice", () => `${head}Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n`, [400]],
  ["chunked before another coding", () => `${head}Transfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n`, [400]],
  ["an unknown transfer coding", () => `${head}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`, [400]],
  ["a hidden transfer coding", () => `${head}Transfer-Encoding:\x0bchunked\r\n\r\n0\r\n\r\n`, [400]],
  ["a chunk size that is no number", () => `${head}Transfer-Encoding: chunked\r\n\r\nzz\r\n${body}`, [400]],
  [
    "a chunk size beyond 64 bits",
    () => `${head}Transfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n`,
    [400],
  ],
  [
    "a chunk longer than its size",
    () => `${head}Transfer-Encoding: chunked\r\n\r\n2\r\n{}}}\r\n0\r\n\r\n`,
    [400],
  ],
  [
    "a huge chunk extension",
    () => `${head}Transfer-Encoding: chunked\r\n\r\n${chunk("{}", `;${"x".repeat(20_000)}`)}0\r\n\r\n`,
    [413],
  ],
  [
    "huge trailers",
    () => `${head}Transfer-Encoding: chunked\r\n\r\n${chunk("{}")}0\r\n${"X: y\r\n".repeat(5000)}\r\n`,
    [431],
  ],
  [
    "chunks over the body limit",
    () => `${head}Transfer-Encoding: chunked\r\n\r\n${chunk("x".repeat(600)).repeat(2)}0\r\n\r\n`,
    [413],
  ],
  ["a body that breaks off", () => `${head}Content-Length: 500\r\n\r\n${body}`, [408]],
  ["chunks that break off", () => `${head}Transfer-Encoding: chunked\r\n\r\n${chunk(body)}`, [408]],
  ["headers that break off", () => head, [408]],
  ["a single byte", () => "P", [408]],
  ["a missing Host", () => "GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n", [200]],
  ["HTTP/1.0", () => "GET /healthz HTTP/1.0\r\n\r\n", [200]],
  [
    "pipelined requests",
    () =>
      `GET /healthz HTTP/1.1\r\n\r\n${head}Content-Length: 2\r\n\r\n{}GET /nope HTTP/1.1\r\nConnection: close\r\n\r\n`,
    [200, 400, 404],
  ],
  [
    "a hundred pipelined requests",
    () => `${"GET /healthz HTTP/1.1\r\n\r\n".repeat(99)}GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n`,
    Array.from({ length: 100 }, () => 200),
  ],
  ["an answered request and then garbage", () => `GET /nope HTTP/1.1\r\n\r\n\0\0\0`, [404, 400]],
  ["garbage after the answer that was the last", () => `GET /nope HTTP/1.0\r\n\r\n\0\0\0`, [404]],
  [
    "a body for nobody that breaks off",
    () => "POST /nope HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    [404],
  ],
];

/** The statuses of what comes back, each answer a clear one, until the server closes the connection. */
async function clearStatuses(to: TestServer, bytes: string | Buffer): Promise<readonly number[]> {
  const stream = await exchangeRaw(to.port, bytes);
  const answers = splitAnswers(stream);
  for (const answer of answers.filter(({ status }) => status !== 200)) {
    expect(answer.headers["content-type"]).toBe("application/json; charset=utf-8");
    expect(answer.headers["x-request-id"]).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
    expect(answer.json).toMatchObject({
      error: expect.any(String) as string,
      message: expect.any(String) as string,
    });
  }
  expect(stream).not.toMatch(/\bat .*\(|node:|\.ts:|SQLITE/);
  expect(to.stored()).toEqual([]);
  return answers.map(({ status }) => status);
}

test.each(inputs)("%s gets a clear answer and changes nothing", async (_, bytes, statuses) => {
  expect(await clearStatuses(server, bytes())).toEqual(statuses);
});

test.each([
  [
    "a body of another type that never comes",
    "POST /submit HTTP/1.1\r\nHost: a\r\nContent-Type: text/plain\r\nContent-Length: 9\r\n\r\n",
    415,
  ],
  [
    "a body that breaks off for an address that cannot be read",
    "POST /%zz HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nx",
    404,
  ],
])("%s gets a clear answer before it, and its connection ends", async (_, bytes, status) => {
  // What is answered before its body keeps its connection as long as one without a request, unless the time for uploads is shorter.
  const hasty = await startServer({
    server: { requestTimeoutMs: 500, bodyLimitBytes: 1024 },
    files: { uploadTimeoutMs: 500 },
  });
  expect(await clearStatuses(hasty, bytes)).toEqual([status]);
});

test.each([
  ["a body that breaks off", "Content-Length: 500\r\n\r\nx", 408],
  ["a chunk size that is no number", "Transfer-Encoding: chunked\r\n\r\nzz\r\n", 400],
])("%s is answered with the id that its request was given", async (_, rest, status) => {
  const whole = "GET /healthz HTTP/1.1\r\nX-Request-Id: first\r\n\r\n";
  const stream = await exchangeRaw(server.port, `${whole}${head}X-Request-Id: mine\r\n${rest}`);
  const answers = splitAnswers(stream).map((answer) => [answer.status, answer.headers["x-request-id"]]);
  expect(answers).toEqual([
    [200, "first"],
    [status, "mine"],
  ]);
  const after = splitAnswers(await exchangeRaw(server.port, `${whole}\0`))[1]?.headers["x-request-id"];
  expect(after).toMatch(/^[0-9a-f]{10}-/);
});

test("none of all that is taken for a defect of ours", () => {
  expect(server.log.filter((line) => /"level":"(?:error|fatal)"/.test(line))).toEqual([]);
});

test("a body of exactly its length followed by garbage leaves no second answer that could be taken for the first", async () => {
  const answers = splitAnswers(
    await exchangeRaw(server.port, `${head}Content-Length: 2\r\n\r\n{}garbage\r\n\r\n`),
  );
  expect(answers.map(({ status }) => status)).toEqual([400]);
});

test("posts of clients that left half-way take no places for ever", async () => {
  const own = await startServer();
  const { secret } = await own.addEndpoint();
  const partial = `POST /submit HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${secret}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{`;
  const MORE_THAN_PLACES = 3200;
  for (let done = 0; done < MORE_THAN_PLACES; done += 200) {
    const seen = own.log.length;
    const connections = await Promise.all(Array.from({ length: 200 }, () => openRaw(own.port)));
    for (const connection of connections) connection.write(partial);
    await until(async () => (await own.request({ method: "GET", path: "/healthz" })).status === 200);
    for (const { socket } of connections) socket.resetAndDestroy();
    await until(() => own.log.length - seen >= 200);
  }
  expect((await own.post(secret, goodPost)).status).toBe(200);
});

test("answers owed to clients that left before them take no places for ever", async () => {
  const own = await startServer();
  const { secret } = await own.addEndpoint();
  expect((await own.post(secret, goodPost)).status).toBe(200);
  const whole = `POST /submit HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${secret}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  own.owner.execute("BEGIN IMMEDIATE");
  const connections = await Promise.all(Array.from({ length: 1600 }, () => openRaw(own.port)));
  for (const connection of connections) connection.write(whole + whole.slice(0, -1));
  const probe = async () => (await own.request({ method: "GET", path: "/nope" })).status;
  await until(async () => (await probe()) === 503);
  for (const { socket } of connections) socket.resetAndDestroy();
  own.owner.execute("COMMIT");
  await until(async () => (await probe()) === 404);
  expect((await own.post(secret, goodPost)).status).toBe(200);
});
