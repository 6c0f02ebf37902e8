import { connect, type Socket } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import {
  type Answer,
  exchangeRaw,
  openRaw,
  type RawConnection,
  splitAnswers,
} from "../support/http-client.ts";
import { goodPost, startServer, type TestServer } from "../support/test-server.ts";
import { until } from "../support/until.ts";

/** What one client address may take of a server, which behind a trusted proxy is the address that the proxy tells. */
const BEHIND_PROXY = { trustProxy: ["127.0.0.1"] };
const GREEDY = "198.51.100.7";
const OTHER = "203.0.113.9";
const body = JSON.stringify(goodPost);

const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

interface Headers {
  readonly key: string;
  readonly client: string;
  readonly length: number;
}

function head({ key, client, length }: Headers): string {
  return `POST /submit HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: ${client}\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`;
}

/** As many connections, each with these bytes on it. */
async function openMany(server: TestServer, count: number, bytes: string): Promise<RawConnection[]> {
  const connections = await Promise.all(Array.from({ length: count }, () => openRaw(server.port)));
  for (const connection of connections) {
    sockets.push(connection.socket);
    connection.write(bytes);
  }
  return connections;
}

function firstStatus(connection: RawConnection): number | undefined {
  return connection.received() === "" ? undefined : splitAnswers(connection.received())[0]?.status;
}

function postFrom(server: TestServer, key: string, client: string): Promise<Answer> {
  return server.post(key, goodPost, { "x-forwarded-for": client });
}

/** How many of the connections wait for their bodies, once all others were answered 503 or closed. */
async function admitted(connections: readonly RawConnection[], expected: number): Promise<number> {
  const waiting = connections.filter(({ socket }) => !socket.destroyed);
  const left = (): number =>
    waiting.filter((connection) => !connection.socket.destroyed && firstStatus(connection) !== 503).length;
  await until(() => left() <= expected);
  return left();
}

describe("behind a trusted proxy", () => {
  test("515 slow bodies from one address keep nobody else out", async () => {
    const server = await startServer({ server: BEHIND_PROXY });
    const { secret } = await server.addEndpoint();
    const slow = await openMany(server, 515, head({ key: secret, client: GREEDY, length: 100 }) + "{");
    expect(await admitted(slow, 64)).toBe(64);
    const refused = slow.find((connection) => firstStatus(connection) === 503);
    const [answer] = splitAnswers(refused?.received() ?? "");
    expect(answer?.json["message"]).toBe("Too many requests are under way from your address.");
    expect(Number(answer?.headers["retry-after"])).toBeGreaterThan(0);
    expect((await postFrom(server, secret, OTHER)).status).toBe(200);
  });

  test("nor do 34 that announce a MiB each, when bodies may be so large", async () => {
    const server = await startServer({ server: { ...BEHIND_PROXY, bodyLimitBytes: 1_048_576 } });
    const { secret } = await server.addEndpoint();
    const slow = await openMany(server, 34, head({ key: secret, client: GREEDY, length: 1_048_576 }) + "{");
    expect(await admitted(slow, 4)).toBe(4);
    expect((await postFrom(server, secret, OTHER)).status).toBe(200);
  });

  test("the addresses of one IPv6 /64 share what one address may take", async () => {
    const server = await startServer({ server: BEHIND_PROXY });
    const { secret } = await server.addEndpoint();
    for (let host = 1; host <= 64; host += 1) {
      const client = `2001:db8:1:2::${host}`;
      await openMany(server, 1, head({ key: secret, client, length: 100 }));
    }
    await until(async () => (await postFrom(server, secret, "2001:db8:1:2::ffff")).status === 503);
    expect((await postFrom(server, secret, "2001:db8:1:3::1")).status).toBe(200);
  });

  test("a place is free again when its client leaves", async () => {
    const server = await startServer({ server: BEHIND_PROXY });
    const { secret } = await server.addEndpoint();
    const slow = await openMany(server, 65, head({ key: secret, client: GREEDY, length: 100 }));
    await admitted(slow, 64);
    for (const { socket } of slow) socket.destroy();
    expect(await until(async () => (await postFrom(server, secret, GREEDY)).status === 200)).toBe(true);
  });

  test("connections whose refused bodies are still on their way are the client's, up to an eighth", async () => {
    const server = await startServer({ server: BEHIND_PROXY });
    const { secret } = await server.addEndpoint();
    const refused = await openMany(server, 300, head({ key: "none", client: GREEDY, length: 100 }));
    let cutOff = 0;
    for (const { closed } of refused) void closed.then(() => (cutOff += 1));
    await until(() => cutOff === 300 - 256);
    expect((await postFrom(server, secret, OTHER)).status).toBe(200);
  });

  test("of the answers that a client leaves, the oldest are cut off beyond an eighth", async () => {
    const server = await startServer({ server: { ...BEHIND_PROXY, bodyLimitBytes: 1_048_576 } });
    const { secret } = await server.addEndpoint({ schema: { text: { type: "string" } } });
    await storeLarge(server, secret);
    const list = listing(secret, GREEDY);
    for (const { socket } of await openMany(server, 6, list.repeat(8))) socket.pause();
    await until(() => server.log.some((line) => line.includes('"status":null')));
    const answers = await Promise.all(
      [GREEDY, OTHER].map((client) => exchangeRaw(server.port, lastOf(listing(secret, client)))),
    );
    expect(answers.map((answer) => splitAnswers(answer)[0]?.status)).toEqual([200, 200]);
  });
});

describe("without a trusted proxy", () => {
  test("a loopback address, which may be a proxy's, takes half of the requests", async () => {
    const server = await startServer();
    const { secret, publishable } = await server.addEndpoint();
    const slow = await openMany(server, 300, head({ key: publishable, client: GREEDY, length: 100 }));
    expect(await admitted(slow, 256)).toBe(256);
    expect(
      await statusFrom(
        server,
        "127.0.0.2",
        head({ key: secret, client: GREEDY, length: body.length }) + body,
      ),
    ).toBe(200);
  });

  test("200 posts that a backend on this machine sends at once with its secret key are all taken", async () => {
    const server = await startServer();
    const { secret } = await server.addEndpoint();
    expect((await server.post(secret, goodPost)).status).toBe(200);
    for (let round = 0; round < 3; round += 1) {
      const answers = await Promise.all(Array.from({ length: 200 }, () => server.post(secret, goodPost)));
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    }
    expect(server.stored()).toHaveLength(601);
  });

  test("a secret key takes half of the requests, and none of those of its address and of other keys there", async () => {
    const server = await startServer();
    const [one, other] = [await server.addEndpoint(), await server.addEndpoint()];
    for (const { secret } of [one, other]) expect((await server.post(secret, goodPost)).status).toBe(200);
    const slow = await openMany(server, 300, head({ key: one.secret, client: GREEDY, length: 100 }));
    expect(await admitted(slow, 256)).toBe(256);
    expect((await server.post(one.secret, goodPost)).status).toBe(503);
    expect((await server.post(one.publishable, goodPost)).status).toBe(200);
    expect((await server.post(other.secret, goodPost)).status).toBe(200);
  });

  test("posts that wait for others of their key are answered when a client before them leaves", async () => {
    const server = await startServer();
    const { secret } = await server.addEndpoint();
    expect((await server.post(secret, goodPost)).status).toBe(200);
    const waiting = await openMany(
      server,
      200,
      head({ key: secret, client: GREEDY, length: body.length }) + body,
    );
    for (const { socket } of waiting.slice(0, 150)) socket.destroy();
    expect(await until(() => waiting.slice(150).every((connection) => firstStatus(connection) === 200))).toBe(
      true,
    );
    expect((await server.post(secret, goodPost)).status).toBe(200);
  });

  test("and half of the connections; further ones are closed as they come", async () => {
    const server = await startServer();
    await openMany(server, 1024, "");
    expect(await exchangeRaw(server.port, "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n")).toBe("");
    expect(await statusFrom(server, "127.0.0.2", "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n")).toBe(200);
  });
});

test("a body that comes more slowly than any phone sends is ended with 408, and others are not", async () => {
  const server = await startServer();
  const { secret } = await server.addEndpoint();
  const [slow, steady] = await openMany(server, 2, head({ key: secret, client: OTHER, length: 4000 }) + "{");
  const timer = setInterval(() => {
    slow?.write(" ");
    steady?.write(" ".repeat(60));
  }, 100);
  const [answer] = splitAnswers((await slow?.closed.finally(() => clearInterval(timer))) ?? "");
  expect([answer?.status, answer?.json["error"], answer?.headers["connection"]]).toEqual([
    408,
    "Request timeout",
    "close",
  ]);
  expect(steady?.received()).toBe("");
});

test("the requests of a connection wait until the answer before them is taken", async () => {
  const server = await startServer({ server: { bodyLimitBytes: 1_048_576 } });
  const { id, secret } = await server.addEndpoint({ schema: { text: { type: "string" } } });
  await storeLarge(server, secret);
  const [connection] = await openMany(server, 1, "");
  connection?.socket.pause();
  const post = head({ key: secret, client: OTHER, length: 2 }) + "{}";
  connection?.write(listing(secret, OTHER).repeat(12) + post.repeat(30));
  // Sent later and stored: what came before it had its turn.
  const other = await server.addEndpoint();
  expect((await server.post(other.secret, goodPost)).status).toBe(200);
  expect(server.stored(id)).toHaveLength(STORED);
  connection?.socket.resume();
  await until(() => server.stored(id).length === STORED + 30);
});

test("a client that says that it sends no more is answered, and its connection is closed", async () => {
  const server = await startServer();
  const { secret } = await server.addEndpoint();
  const connection = await openRaw(server.port);
  connection.socket.end(head({ key: secret, client: OTHER, length: body.length }) + body);
  const [answer] = splitAnswers(await connection.closed);
  expect([answer?.status, answer?.headers["connection"]]).toEqual([200, "keep-alive"]);
  expect(server.stored()).toEqual([goodPost]);
});

test("clients that send no more and read nothing are let go", async () => {
  const server = await startServer();
  const question = "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n";
  for (const { socket } of await openMany(server, 1024, question)) socket.pause().end();
  expect(await until(async () => (await exchangeRaw(server.port, lastOf(question))) !== "")).toBe(true);
});

const STORED = 2;

/** So that some pages of them are more than a connection takes when nobody reads. */
async function storeLarge(server: TestServer, key: string): Promise<void> {
  for (let count = 0; count < STORED; count += 1) await server.post(key, { text: "x".repeat(900_000) });
}

function listing(key: string, client: string): string {
  return `GET /submissions HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: ${client}\r\nAuthorization: Bearer ${key}\r\n\r\n`;
}

function lastOf(question: string): string {
  return question.replace("Host", "Connection: close\r\nHost");
}

function statusFrom(server: TestServer, localAddress: string, bytes: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port: server.port, host: "127.0.0.1", localAddress }, () => socket.write(bytes));
    sockets.push(socket);
    socket.on("error", reject);
    socket.on("close", () => resolve(undefined));
    socket.on("data", (bytes: Buffer) => resolve(splitAnswers(bytes.toString("latin1"))[0]?.status));
  });
}
