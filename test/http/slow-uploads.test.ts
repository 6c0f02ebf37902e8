import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { openRaw } from "../support/http-client.ts";
import { goodPost, startServer, type TestEndpoint, type TestServer } from "../support/test-server.ts";
import { until } from "../support/until.ts";
import { applicationSchema, multipart, pdf, storedFiles } from "../support/uploads.ts";

const FILE =
  'Content-Disposition: form-data; name="cv"; filename="cv.pdf"\r\nContent-Type: application/pdf\r\n\r\n%PDF-1.7\n';

async function start() {
  const server = await startServer({}, { bodyGraceMs: 2000 });
  const endpoint = await server.addEndpoint({ schema: applicationSchema });
  return { server, endpoint };
}

/** Begins a form with files that has this number of bytes. */
async function begin({ port }: TestServer, { secret }: TestEndpoint, length: number) {
  const connection = await openRaw(port);
  connection.write(
    `POST /submit HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${secret}\r\n` +
      `Content-Type: multipart/form-data; boundary=b\r\nContent-Length: ${length}\r\n\r\n--b\r\n${FILE}`,
  );
  return connection;
}

function expectNothing(server: TestServer): void {
  expect(storedFiles(server.owner)).toMatchObject({ files: [], chunks: 0 });
  expect(server.stored()).toEqual([]);
}

test("a client that sends a byte a second of a file is answered 408, and other posts do not notice it", async () => {
  const { server, endpoint } = await start();
  const plain = await server.addEndpoint();
  const connection = await begin(server, endpoint, 1_000_000);
  const drip = setInterval(() => connection.write("x"), 1000);
  let isClosed = false;
  const answer = connection.closed.finally(() => (isClosed = true));
  const taken: number[] = [];
  await until(async () => {
    taken.push((await server.post(plain.secret, goodPost)).status);
    return isClosed;
  });
  clearInterval(drip);
  expect(await answer).toContain("HTTP/1.1 408 ");
  expect(new Set(taken)).toEqual(new Set([200]));
  expect(storedFiles(server.owner)).toMatchObject({ files: [], chunks: 0 });
  expect(server.stored(endpoint.id)).toEqual([]);
}, 120_000);

test("a form with a file may take longer than other requests: 3 seconds where those have one", async () => {
  const server = await startServer({ server: { requestTimeoutMs: 1000 } });
  const endpoint = await server.addEndpoint({ schema: applicationSchema });
  const { headers, body } = await multipart([
    ["name", "Ana"],
    ["cv", { name: "cv.pdf", bytes: pdf(60_000) }],
  ]);
  const connection = await openRaw(server.port);
  connection.write(
    `POST /submit HTTP/1.1\r\nHost: a\r\nConnection: close\r\nAuthorization: Bearer ${endpoint.secret}\r\n` +
      `Content-Type: ${headers["content-type"]}\r\nContent-Length: ${body.length}\r\n\r\n`,
  );
  for (let part = 0; part < 6; part += 1) {
    connection.write(body.subarray(part * 10_000, part === 5 ? undefined : (part + 1) * 10_000));
    await sleep(600);
  }
  expect(await connection.closed).toMatch(/^HTTP\/1\.1 200 /);
  expect(storedFiles(server.owner).files).toMatchObject([{ size: 60_000, state: "stored" }]);
});

test("a form whose body is shorter than its length says stores nothing when its client hangs up", async () => {
  const { server, endpoint } = await start();
  const { headers, body } = await multipart([
    ["name", "Ana"],
    ["cv", { name: "cv.pdf", bytes: pdf() }],
  ]);
  const connection = await openRaw(server.port);
  connection.write(
    `POST /submit HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${endpoint.secret}\r\n` +
      `Content-Type: ${headers["content-type"]}\r\nContent-Length: ${body.length + 1}\r\n\r\n`,
  );
  connection.write(body);
  connection.socket.end();
  expect(await connection.closed).not.toContain("HTTP/1.1 200 ");
  expectNothing(server);
});

test("a form whose body is longer than its length says is refused, and what is left over is no form", async () => {
  const { server, endpoint } = await start();
  const { headers, body } = await multipart([
    ["name", "Ana"],
    ["cv", { name: "cv.pdf", bytes: pdf() }],
  ]);
  const connection = await openRaw(server.port);
  connection.write(
    `POST /submit HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${endpoint.secret}\r\n` +
      `Content-Type: ${headers["content-type"]}\r\nContent-Length: ${body.length - 100}\r\n\r\n`,
  );
  connection.write(body);
  const answers = await connection.closed;
  expect(answers).toMatch(/^HTTP\/1\.1 400 /);
  expect(answers).not.toContain("HTTP/1.1 200 ");
  expectNothing(server);
});

test("two lengths, or a length beside chunks, are refused before the form is read", async () => {
  const { server, endpoint } = await start();
  for (const lengths of [
    "Content-Length: 10\r\nContent-Length: 11",
    "Content-Length: 10\r\nTransfer-Encoding: chunked",
  ]) {
    const connection = await openRaw(server.port);
    connection.write(
      `POST /submit HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${endpoint.secret}\r\n` +
        `Content-Type: multipart/form-data; boundary=b\r\n${lengths}\r\n\r\n--b\r\n${FILE}`,
    );
    expect(await connection.closed).toMatch(/^HTTP\/1\.1 400 /);
  }
  expectNothing(server);
});
