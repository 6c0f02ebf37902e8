import { readdirSync } from "node:fs";
import { dirname } from "node:path";
import { describe, expect, test } from "vitest";
import { openRaw } from "../support/http-client.ts";
import {
  type ConfigOverrides,
  startServer,
  type TestEndpoint,
  type TestServer,
} from "../support/test-server.ts";
import { until } from "../support/until.ts";
import {
  applicationSchema,
  multipart,
  pdf,
  sha256,
  storedFiles,
  type UploadPart,
} from "../support/uploads.ts";

const MEBIBYTE = 1_048_576;

type Parts = readonly (readonly [field: string, part: UploadPart])[];

async function startForm(files: NonNullable<ConfigOverrides["files"]> = {}) {
  const server = await startServer({ files });
  const endpoint = await server.addEndpoint({ schema: applicationSchema });
  return { server, endpoint };
}

async function send(server: TestServer, { secret }: TestEndpoint, parts: Parts, chunked = false) {
  const { headers, body } = await multipart(parts);
  return sendBody(server, secret, { type: headers["content-type"], body, chunked });
}

function sendBody(
  server: TestServer,
  secret: string,
  { type, body, chunked = false }: { type: string; body: Buffer | string; chunked?: boolean },
) {
  const headers = { authorization: `Bearer ${secret}`, "content-type": type };
  return server.request({ method: "POST", path: "/submit", headers, body, chunked });
}

const ana = ["name", "Ana"] as const;
const good: Parts = [ana, ["cv", { name: "cv.pdf", bytes: pdf() }]];

/** Nothing of what was refused is left, and the next form is taken. */
async function expectNothingLeft(server: TestServer, endpoint: TestEndpoint): Promise<void> {
  expect(storedFiles(server.owner)).toMatchObject({ files: [], chunks: 0 });
  expect(server.stored()).toEqual([]);
  expect(readdirSync(dirname(server.databasePath)).filter((name) => name.includes("upload"))).toEqual([]);
  expect(await send(server, endpoint, good)).toMatchObject({ status: 200 });
  expect(storedFiles(server.owner).files).toHaveLength(1);
}

describe("limits", () => {
  test("a post that is announced as too large is refused before a byte of it is read", async () => {
    const { server, endpoint } = await startForm({ maxPostBytes: 100_000 });
    const connection = await openRaw(server.port);
    connection.write(
      `POST /submit HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${endpoint.secret}\r\n` +
        "Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 100001\r\n\r\n",
    );
    const answer = await connection.closed;
    expect(answer).toContain("HTTP/1.1 413 ");
    expect(answer).toContain(
      "larger than the 100000 bytes that this server accepts at once (files.maxPostBytes)",
    );
    await expectNothingLeft(server, endpoint);
  });

  test("a file whose part is left out, for the line break in its name, is refused and not lost", async () => {
    const { server, endpoint } = await startForm();
    const body = Buffer.concat([
      Buffer.from('--b\r\nContent-Disposition: form-data; name="name"\r\n\r\nAna\r\n--b\r\n'),
      Buffer.from("Content-Disposition: form-data; name=\"cv\"; filename*=utf-8''cv%0A.pdf\r\n\r\n"),
      pdf(),
      Buffer.from("\r\n--b--\r\n"),
    ]);
    const answer = await sendBody(server, endpoint.secret, { type: "multipart/form-data; boundary=b", body });
    expect(answer).toMatchObject({
      status: 400,
      json: { error: "Invalid request", details: { body: "malformed" } },
    });
    await expectNothingLeft(server, endpoint);
  });

  test("each limit that is met while the form is read is answered with its name", async () => {
    const { server, endpoint } = await startForm({ maxPostBytes: 300_000, maxFileBytes: 100_000 });
    const file = await send(server, endpoint, [ana, ["cv", { name: "cv.pdf", bytes: pdf(100_001) }]]);
    expect(file).toMatchObject({
      status: 413,
      json: { details: { limit: "files.maxFileBytes", maximum: 100_000, field: "cv", file: "cv.pdf" } },
    });
    const post = await send(server, endpoint, [ana, ["cv", { name: "cv.pdf", bytes: pdf(300_001) }]], true);
    expect([post.status, post.json["error"]]).toEqual([413, "Payload too large"]);
    const text = await send(server, endpoint, [
      ["name", "a".repeat(70_000)],
      ["cv", { name: "cv.pdf", bytes: pdf() }],
    ]);
    expect(text).toMatchObject({ status: 413, json: { details: { limit: "server.bodyLimitBytes" } } });
    await expectNothingLeft(server, endpoint);
  });

  test("a server whose disk is nearly full takes no files, and other posts as ever", async () => {
    const { server, endpoint } = await startForm({ minFreeBytes: 1_000_000_000_000_000 });
    const answer = await send(server, endpoint, good);
    expect(answer).toMatchObject({ status: 503, headers: { "retry-after": "60" } });
    const plain = await server.addEndpoint();
    const post = { name: "Ana Ruiz", email: "ana@example.org", message: "Are you open on Sunday?" };
    expect(await server.post(plain.secret, post)).toMatchObject({ status: 200 });
  });

  test("a server that has as many bytes of files as it may have takes no further ones", async () => {
    const { server, endpoint } = await startForm({ maxTotalBytes: 2000 });
    expect(await send(server, endpoint, good)).toMatchObject({ status: 200 });
    const answer = await send(server, endpoint, good);
    expect(answer).toMatchObject({ status: 503, json: { error: "Service unavailable" } });
    expect(answer.text).toContain("files.maxTotalBytes");
    expect(storedFiles(server.owner).files).toHaveLength(1);
  });

  test("of a hundred forms at once from one address some are told to wait, and each that is taken is whole", async () => {
    const { server, endpoint } = await startForm({ spoolBytes: 64 * MEBIBYTE });
    const bytes = pdf(2 * MEBIBYTE);
    const parts: Parts = [ana, ["cv", { name: "cv.pdf", bytes }]];
    const answers = await Promise.all(Array.from({ length: 100 }, () => send(server, endpoint, parts)));
    const taken = answers.filter(({ status }) => status === 200);
    expect(answers.filter(({ status }) => status !== 200 && status !== 503)).toEqual([]);
    expect(taken.length).toBeGreaterThanOrEqual(8);
    const { files, bytesOf } = storedFiles(server.owner);
    expect(files.filter(({ state }) => state === "stored")).toHaveLength(taken.length);
    for (const { id } of files) expect(sha256(bytesOf(id))).toBe(sha256(bytes));
    expect(await send(server, endpoint, parts)).toMatchObject({ status: 200 });
  });
});

const TYPE = "multipart/form-data; boundary=b";
const FILE =
  'Content-Disposition: form-data; name="cv"; filename="cv.pdf"\r\nContent-Type: application/pdf\r\n';

describe("broken and hostile bodies", () => {
  test("each is refused with a reason, and leaves nothing", async () => {
    const { server, endpoint } = await startForm();
    const part = (headers: string, content: string): string => `--b\r\n${headers}\r\n${content}\r\n`;
    const bodies = {
      "no boundary": { type: "multipart/form-data", body: "x" },
      "no end": { body: part(FILE, pdf().toString("latin1")) },
      "no part": { body: "--b--\r\n" },
      nothing: { body: "" },
      "another boundary": { body: `--c\r\n${FILE}\r\nx\r\n--c--\r\n` },
      "10,000 parts": {
        body: `${part('Content-Disposition: form-data; name="a"\r\n', "").repeat(10_000)}--b--\r\n`,
      },
      "10,000 files": { body: `${part(FILE, "%PDF-1.7").repeat(10_000)}--b--\r\n` },
      "a header without an end": { body: `--b\r\nContent-Disposition: ${"a".repeat(200_000)}` },
      "1,000 headers": { body: `--b\r\n${"X-A: b\r\n".repeat(1000)}${FILE}\r\n%PDF\r\n--b--\r\n` },
      "a form in a form": {
        body: `--b\r\nContent-Disposition: form-data; name="cv"\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n--c\r\n${FILE}\r\nx\r\n--c--\r\n--b--\r\n`,
      },
    };
    for (const [name, { body, ...more }] of Object.entries(bodies)) {
      const answer = await sendBody(server, endpoint.secret, {
        type: TYPE,
        body: Buffer.from(body, "latin1"),
        ...more,
      });
      expect([name, answer.status, typeof answer.json["message"]]).toEqual([
        name,
        answer.status === 413 ? 413 : 400,
        "string",
      ]);
    }
    await expectNothingLeft(server, endpoint);
  });

  test("a client that leaves in the middle leaves nothing, and its room is free for others", async () => {
    const { server, endpoint } = await startForm({ spoolBytes: 2 * MEBIBYTE, maxPostBytes: 2 * MEBIBYTE });
    for (let round = 0; round < 5; round += 1) {
      const connection = await openRaw(server.port);
      connection.write(
        `POST /submit HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${endpoint.secret}\r\nContent-Type: ${TYPE}\r\nContent-Length: 2000000\r\n\r\n--b\r\n${FILE}\r\n`,
      );
      connection.write(pdf(MEBIBYTE));
      await until(() => connection.socket.bytesWritten > MEBIBYTE && connection.socket.writableLength === 0);
      connection.socket.destroy();
    }
    // Each needs nearly all of the room; whoever still holds some of it makes it wait.
    const parts: Parts = [ana, ["cv", { name: "cv.pdf", bytes: pdf(1_900_000) }]];
    await until(async () => (await send(server, endpoint, parts)).status === 200);
    expect(storedFiles(server.owner).files.map(({ size }) => size)).toEqual([1_900_000]);
  });

  test("a form with files that takes too long is answered 408, after its own time and not that of other requests", async () => {
    const server = await startServer({ server: { requestTimeoutMs: 100 }, files: { uploadTimeoutMs: 1500 } });
    const endpoint = await server.addEndpoint({ schema: applicationSchema });
    const connection = await openRaw(server.port);
    const startedAt = performance.now();
    connection.write(
      `POST /submit HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${endpoint.secret}\r\nContent-Type: ${TYPE}\r\nContent-Length: 2000000\r\n\r\n--b\r\n`,
    );
    expect(await connection.closed).toContain("HTTP/1.1 408 ");
    expect(performance.now() - startedAt).toBeGreaterThan(1000);
    expect(storedFiles(server.owner)).toMatchObject({ files: [], chunks: 0 });
  });
});

test("a form without script that is refused comes again with what was typed, and asks for its files anew", async () => {
  const server = await startServer();
  const endpoint = await server.addEndpoint({
    schema: {
      name: { type: "string", required: true, minLength: 5 },
      cv: { type: "file", maxFiles: 3, accept: [".pdf"] },
    },
  });
  const form = await multipart(good);
  const answer = await server.request({
    method: "POST",
    path: `/f/${endpoint.publishable}`,
    headers: { ...form.headers, origin: "https://example.com" },
    body: form.body,
  });
  expect(answer.status).toBe(400);
  expect(answer.text).toContain('enctype="multipart/form-data"');
  expect(answer.text).toContain('name="name"');
  expect(answer.text).toContain('value="Ana"');
  expect(answer.text).toMatch(
    /<input type="file" id="i\d" name="cv" aria-describedby="i\d-hint" accept="\.pdf" multiple>/,
  );
  expect(answer.text).toContain("Please choose your files again");
});

test("a form without script in which nobody chose a file is not asked to choose it again", async () => {
  const server = await startServer();
  const schema = { name: { type: "string", required: true, maxLength: 2 }, cv: { type: "file" } } as const;
  const endpoint = await server.addEndpoint({ schema });
  // What a browser sends of an input that was left empty: a part without a name and without a byte.
  const form = await multipart([ana, ["cv", { name: "", bytes: "" }]]);
  const answer = await server.request({
    method: "POST",
    path: `/f/${endpoint.publishable}`,
    headers: { ...form.headers, origin: "https://example.com" },
    body: form.body,
  });
  expect(answer.status).toBe(400);
  expect(answer.text).toContain('value="Ana"');
  expect(answer.text).toContain('name="cv"');
  expect(answer.text).not.toContain("choose your files again");
});
