import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { openRaw } from "../support/http-client.ts";
import { startServer, type TestServer } from "../support/test-server.ts";
import { until } from "../support/until.ts";
import {
  applicationSchema,
  multipart,
  pdf,
  sha256,
  storedFiles,
  type UploadPart,
} from "../support/uploads.ts";

type Parts = readonly (readonly [field: string, part: UploadPart])[];

/** Posts a form to `/submit`. */
async function send(server: TestServer, key: string, parts: Parts, headers: Record<string, string> = {}) {
  const form = await multipart(parts);
  return server.request({
    method: "POST",
    path: "/submit",
    headers: { authorization: `Bearer ${key}`, ...form.headers, ...headers },
    body: form.body,
  });
}

const ana = ["name", "Ana"] as const;

test("an accepted form's files are in the database byte for byte when it is answered", async () => {
  const server = await startServer();
  const endpoint = await server.addEndpoint({ schema: applicationSchema });
  const [small, large] = [pdf(3000), pdf(1_000_000, "b")];
  const answer = await send(server, endpoint.secret, [
    ana,
    ["cv", { name: "cv.pdf", bytes: small }],
    ["cv", { name: "portfolio.pdf", bytes: large }],
  ]);
  expect(answer).toMatchObject({ status: 200, json: { success: true } });
  const { files, chunks, bytesOf } = storedFiles(server.owner);
  expect(chunks).toBe(1 + 4);
  expect(server.stored()).toEqual([
    {
      name: "Ana",
      cv: [
        { id: files[0]?.id, name: "cv.pdf", size: 3000, type: "application/pdf", sha256: sha256(small) },
        {
          id: files[1]?.id,
          name: "portfolio.pdf",
          size: 1_000_000,
          type: "application/pdf",
          sha256: sha256(large),
        },
      ],
    },
  ]);
  expect(files.map(({ state, submission_id: of }) => [state, of])).toEqual(
    Array.from({ length: 2 }, () => ["stored", (answer.json as { submission_id: string }).submission_id]),
  );
  expect(files.map(({ id }) => sha256(bytesOf(id)))).toEqual([sha256(small), sha256(large)]);
});

test("bytes that nearly end a part are stored as they came, however the form is cut on its way", async () => {
  const server = await startServer();
  const endpoint = await server.addEndpoint({ schema: applicationSchema });
  // Most of every 50 bytes may be the beginning of the boundary, so the parser keeps some of them back.
  const lines = Array.from({ length: 16_000 }, (_, at) => `\r\n--part-of-a-form-whose-end-is-long ${at} `);
  const bytes = Buffer.concat([pdf(300_000), Buffer.from(lines.join(""))]);
  const boundary = "part-of-a-form-whose-end-is-long-enough-to-be-cut-anywhere";
  const head = `--${boundary}\r\ncontent-disposition: form-data; name="name"\r\n\r\nAna\r\n--${boundary}\r\ncontent-disposition: form-data; name="cv"; filename="cv.pdf"\r\n\r\n`;
  const body = Buffer.concat([Buffer.from(head), bytes, Buffer.from(`\r\n--${boundary}--\r\n`)]);
  const sent = request(`${server.url}/submit`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${endpoint.secret}`,
      "content-type": `multipart/form-data; boundary=${boundary}`,
    },
  });
  const answered = once(sent, "response") as Promise<[IncomingMessage]>;
  for (let at = 0, length = 997; at < body.length; at += length, length = (length * 7) % 65_521) {
    sent.write(body.subarray(at, at + length));
    await setImmediate();
  }
  sent.end();
  const [answer] = await answered;
  answer.resume();
  expect(answer.statusCode).toBe(200);
  const { files, bytesOf } = storedFiles(server.owner);
  expect(files.map(({ id, size }) => [size, sha256(bytesOf(id))])).toEqual([[bytes.length, sha256(bytes)]]);
});

test("a form of a page without script brings its files to the endpoint's own address", async () => {
  const server = await startServer();
  const endpoint = await server.addEndpoint({ schema: applicationSchema });
  const form = await multipart([ana, ["cv", { name: "cv.pdf", bytes: pdf() }]]);
  const answer = await server.request({
    method: "POST",
    path: `/f/${endpoint.publishable}`,
    headers: { ...form.headers, origin: "https://example.com" },
    body: form.body,
  });
  expect(answer.status).toBe(200);
  expect(answer.text).toContain("Thank you");
  expect(storedFiles(server.owner).files).toHaveLength(1);
});

test("a form without a file field takes no files, with the same words as ever", async () => {
  const server = await startServer();
  const endpoint = await server.addEndpoint();
  const form = await multipart([ana, ["cv", { name: "cv.pdf", bytes: pdf() }]]);
  const bySubmit = await send(server, endpoint.secret, [ana]);
  expect(bySubmit).toMatchObject({
    status: 415,
    json: { message: "Send the fields as a JSON object with Content-Type: application/json." },
  });
  const byForm = await server.request({
    method: "POST",
    path: `/f/${endpoint.publishable}`,
    headers: { ...form.headers, accept: "application/json", origin: "https://example.com" },
    body: form.body,
  });
  expect(byForm).toMatchObject({
    status: 415,
    json: { message: "This form takes no files; send it without one." },
  });
  expect(storedFiles(server.owner).files).toEqual([]);
});

test("nothing is stored of a form that is refused, whatever the reason", async () => {
  const server = await startServer({ files: { maxFiles: 2 } });
  const endpoint = await server.addEndpoint({
    schema: {
      name: { type: "string", required: true },
      cv: { type: "file", required: true, maxBytes: 4000, maxFiles: 5, accept: [".pdf", ".docx"] },
    },
  });
  const good = { name: "cv.pdf", bytes: pdf() };
  const issuesOf = async (...parts: Parts) => {
    const answer = await send(server, endpoint.secret, parts);
    expect(answer.status).toBe(400);
    const details = answer.json["details"] as Record<string, { issues: Record<string, unknown>[] }>;
    return Object.values(details)
      .flatMap(({ issues }) => issues)
      .map(({ code, reason, maximum, path }) => [code, reason, maximum, path]);
  };
  const issue = (reason: string, maximum?: number, place = ["cv", "0"]) => [
    ["invalid_file", reason, maximum, place],
  ];
  expect(await issuesOf(["cv", good])).toEqual([["invalid_type", undefined, undefined, ["name"]]]);
  expect(await issuesOf(ana)).toEqual([["invalid_type", undefined, undefined, ["cv"]]]);
  expect(await issuesOf(ana, ["cv", "a text"])).toEqual([["invalid_type", undefined, undefined, ["cv"]]]);
  expect(await issuesOf(ana, ["cv", { name: "cv.pdf", bytes: pdf(4001) }])).toEqual(issue("size", 4000));
  expect(await issuesOf(ana, ["cv", { name: "cv.pdf", bytes: "" }])).toEqual(issue("size", 4000));
  expect(await issuesOf(ana, ["cv", { name: "cv.txt", bytes: "Hello" }])).toEqual(issue("type"));
  expect(await issuesOf(ana, ["cv", { name: "cv.docx", bytes: pdf() }])).toEqual(issue("type"));
  expect(await issuesOf(ana, ["cv", { name: "\u202E", bytes: pdf() }])).toEqual(issue("name"));
  expect(await issuesOf(ana, ["cv", good], ["cv", good], ["cv", good])).toEqual(
    issue("count", 2, ["cv", "2"]),
  );
  expect(storedFiles(server.owner)).toMatchObject({ files: [], chunks: 0 });
  expect(server.stored()).toEqual([]);
});

test("a JSON body cannot say that it has files", async () => {
  const server = await startServer();
  const endpoint = await server.addEndpoint({ schema: applicationSchema });
  const forged = { id: "fil_00000000000000000000000000", name: "a", size: 1, type: "a", sha256: "a" };
  for (const cv of [[forged], forged, "cv.pdf", []]) {
    const answer = await server.post(endpoint.secret, { name: "Ana", cv });
    expect([answer.status, answer.json["error"]]).toEqual([400, "Validation failed"]);
  }
});

test("a file in a field that the form does not declare is dropped, and told with its size", async () => {
  const server = await startServer();
  const endpoint = await server.addEndpoint({ schema: applicationSchema });
  const cv = ["cv", { name: "cv.pdf", bytes: pdf() }] as const;
  expect(
    await send(server, endpoint.secret, [ana, cv, ["photo", { name: "me.png", bytes: "1234" }]]),
  ).toMatchObject({
    status: 200,
  });
  const { files } = storedFiles(server.owner);
  expect(files.map(({ name }) => name)).toEqual(["cv.pdf"]);
  const [row] = server.owner.prepare("SELECT unknown_fields FROM submission").all();
  expect(row).toEqual({ unknown_fields: JSON.stringify({ photo: "me.png (4 bytes, not kept)" }) });
});

test("the same form with the same Idempotency-Key is stored once, whatever its boundary, and another file is another form", async () => {
  const server = await startServer();
  const endpoint = await server.addEndpoint({ schema: applicationSchema });
  const key = { "idempotency-key": "k1" };
  const cv = (bytes: Buffer) => [ana, ["cv", { name: "cv.pdf", bytes }]] as const;
  const first = await send(server, endpoint.secret, cv(pdf()), key);
  const again = await send(server, endpoint.secret, cv(pdf()), key);
  expect(first.status).toBe(200);
  expect(again.json).toEqual(first.json);
  expect(await send(server, endpoint.secret, cv(pdf(2001)), key)).toMatchObject({ status: 409 });
  expect(storedFiles(server.owner).files).toHaveLength(1);
});

test("a form that is cut off leaves its Idempotency-Key free, and of two at once one is stored", async () => {
  const server = await startServer();
  const endpoint = await server.addEndpoint({ schema: applicationSchema });
  const cut = await openRaw(server.port);
  const part = 'Content-Disposition: form-data; name="cv"; filename="cv.pdf"\r\n\r\n%PDF-1.7\n';
  cut.write(
    `POST /submit HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${endpoint.secret}\r\nIdempotency-Key: k1\r\n` +
      `Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 1000000\r\n\r\n--b\r\n${part}`,
  );
  await until(() => cut.socket.bytesWritten > 0 && cut.socket.writableLength === 0);
  cut.socket.destroy();
  const again = () =>
    send(server, endpoint.secret, [ana, ["cv", { name: "cv.pdf", bytes: pdf(300_000) }]], {
      "idempotency-key": "k1",
    });
  const startedAt = performance.now();
  const answers = await Promise.all([again(), again(), again()]);
  expect(performance.now() - startedAt).toBeLessThan(5000);
  const taken = answers.filter(({ status }) => status === 200);
  expect(answers.filter(({ status }) => status !== 200 && status !== 409)).toEqual([]);
  expect(new Set(taken.map(({ text }) => text)).size).toBe(1);
  expect(storedFiles(server.owner).files).toHaveLength(1);
});
