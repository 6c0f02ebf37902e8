import { expect, test } from "vitest";
import { openRaw, splitAnswers } from "../support/http-client.ts";
import { goodPost, startServer, type TestServer } from "../support/test-server.ts";
import { until } from "../support/until.ts";

const body = JSON.stringify(goodPost);

function headFor(key: string, length: number): string {
  return `POST /submit HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`;
}

async function seen(server: TestServer): Promise<void> {
  // What was written before this request has been read once this one is answered.
  await until(async () => (await server.request({ method: "GET", path: "/healthz" })).status === 200);
}

test.each([
  ["headers", () => "POST /submit HTTP/1.1\r\nHost: a\r\n"],
  ["a body", (key: string) => headFor(key, 100)],
])("a client that drips %s for longer than requestTimeoutMs is answered 408", async (_, start) => {
  const server = await startServer({ server: { requestTimeoutMs: 300 } });
  const { secret } = await server.addEndpoint();
  const connection = await openRaw(server.port);
  connection.write(start(secret));
  const drip = setInterval(() => connection.write("X"), 50);
  const [answer] = splitAnswers(await connection.closed.finally(() => clearInterval(drip)));
  expect([answer?.status, answer?.json["error"]]).toEqual([408, "Request timeout"]);
  expect(answer?.headers["connection"]).toBe("close");
  expect(server.stored()).toEqual([]);
});

test("a phone that sends 2 KB at 300 bytes a second is waited for", async () => {
  // With the usual time a much slower one would be waited for as long as this.
  const server = await startServer({}, { bodyGraceMs: 1500 });
  const { publishable } = await server.addEndpoint();
  const long = JSON.stringify({ ...goodPost, message: "x".repeat(2000) });
  const connection = await openRaw(server.port);
  connection.write(headFor(publishable, long.length));
  const startedAt = performance.now();
  let sent = 0;
  const send = setInterval(() => {
    const due = Math.floor(((performance.now() - startedAt) / 1000) * 300);
    connection.write(long.slice(sent, due));
    sent = Math.max(sent, Math.min(due, long.length));
  }, 200);
  await until(() => connection.received() !== "" || connection.socket.destroyed);
  clearInterval(send);
  expect(performance.now() - startedAt).toBeGreaterThan(6000);
  expect(splitAnswers(connection.received())[0]?.status).toBe(200);
}, 60_000);

/** Sends a post of this length at 400 bytes a second. Returns the status, and the time until the answer. */
async function sendSteadily(server: TestServer, key: string, length: number) {
  const message = "x".repeat(length - JSON.stringify({ ...goodPost, message: "" }).length);
  const text = JSON.stringify({ ...goodPost, message });
  const connection = await openRaw(server.port);
  connection.write(headFor(key, text.length));
  const startedAt = performance.now();
  let sent = 0;
  const send = setInterval(() => {
    const due = Math.floor(((performance.now() - startedAt) / 1000) * 400);
    connection.write(text.slice(sent, due));
    sent = Math.max(sent, Math.min(due, text.length));
  }, 100);
  await until(() => connection.received() !== "" || connection.socket.destroyed);
  clearInterval(send);
  return { status: splitAnswers(connection.received())[0]?.status, ms: performance.now() - startedAt };
}

test("a body that keeps coming has six times requestTimeoutMs, and no more", async () => {
  const server = await startServer({ server: { requestTimeoutMs: 1000 } });
  const { publishable } = await server.addEndpoint();
  const [short, long] = await Promise.all([
    sendSteadily(server, publishable, 1000),
    sendSteadily(server, publishable, 10_000),
  ]);
  expect([short.status, long.status]).toEqual([200, 408]);
  expect(short.ms).toBeGreaterThan(2000);
  expect(long.ms).toBeGreaterThan(6000);
  expect(long.ms).toBeLessThan(20_000);
}, 60_000);

test("headers have ten seconds, however long a request may take", async () => {
  const server = await startServer();
  const connection = await openRaw(server.port);
  connection.write("POST /submit HTTP/1.1\r\nHost: a\r\n");
  const drip = setInterval(() => connection.write("X"), 200);
  const startedAt = performance.now();
  const [answer] = splitAnswers(await connection.closed.finally(() => clearInterval(drip)));
  expect(answer?.status).toBe(408);
  // A request has a minute.
  expect(performance.now() - startedAt).toBeLessThan(40_000);
}, 60_000);

test("stopping answers the posts that were begun, refuses what comes after them, and closes", async () => {
  const server = await startServer();
  const { secret } = await server.addEndpoint();
  const begun = await openRaw(server.port);
  begun.write(headFor(secret, body.length) + body.slice(0, 10));
  const late = await openRaw(server.port);
  late.write("POST /submit HTTP/1.1\r\nHost: a\r\n");
  await seen(server);

  const stopped = server.restart();
  late.write(headFor(secret, 2).split("\r\n").slice(2).join("\r\n") + "{}");
  begun.write(body.slice(10));
  const [refused] = splitAnswers(await late.closed);
  const [received] = splitAnswers(await begun.closed);
  await stopped;

  expect([refused?.status, refused?.json["error"]]).toEqual([503, "Service unavailable"]);
  expect(Number(refused?.headers["retry-after"])).toBeGreaterThan(0);
  expect(refused?.headers["access-control-allow-origin"]).toBe("*");
  expect(received?.status).toBe(200);
  expect(server.stored()).toEqual([goodPost]);
});

test("while stopping, /readyz is unavailable and /healthz is still up", async () => {
  const server = await startServer();
  const paths = ["/readyz", "/healthz"];
  const connections = await Promise.all(paths.map(() => openRaw(server.port)));
  connections.forEach((connection, index) => connection.write(`GET ${paths[index]} HTTP/1.1\r\n`));
  await seen(server);
  const stopped = server.restart();
  for (const connection of connections) connection.write("\r\n");
  const statuses = await Promise.all(
    connections.map(async ({ closed }) => splitAnswers(await closed)[0]?.status),
  );
  await stopped;
  expect(statuses).toEqual([503, 200]);
});

test("a client that never ends is cut off when the grace is over", async () => {
  const server = await startServer({ server: { shutdownGraceMs: 200 } });
  const { secret } = await server.addEndpoint();
  const connection = await openRaw(server.port);
  connection.write(headFor(secret, 100));
  await seen(server);
  await server.restart();
  expect(await connection.closed).toBe("");
  expect(server.log.some((line) => line.includes("server.grace-over"))).toBe(true);
});
