import { expect, test } from "vitest";
import { startServer, type TestServer } from "../support/test-server.ts";
import { applicationSchema, multipart, pdf, sha256 } from "../support/uploads.ts";
import { until } from "../support/until.ts";

const NAME = 'Über "mich" 100%.pdf';

async function upload(server: TestServer, secret: string, bytes: Buffer) {
  const form = await multipart([
    ["name", "Ana"],
    ["cv", { name: NAME, bytes }],
  ]);
  const headers = { authorization: `Bearer ${secret}`, ...form.headers };
  const answer = await server.request({ method: "POST", path: "/submit", headers, body: form.body });
  const id = String(answer.json["submission_id"]);
  const shown = await read(server, secret, `/submissions/${id}`);
  const { cv } = shown.json["data"] as { cv: { id: string }[] };
  return { id, path: `/submissions/${id}/files/${cv[0]?.id}` };
}

function read(server: TestServer, secret: string, path: string, headers: Record<string, string> = {}) {
  return server.request({ method: "GET", path, headers: { authorization: `Bearer ${secret}`, ...headers } });
}

/** The body as bytes: the harness reads answers as text. */
async function bytesOf(
  server: TestServer,
  secret: string,
  path: string,
  headers: Record<string, string> = {},
) {
  const answer = await fetch(`${server.url}${path}`, {
    headers: { authorization: `Bearer ${secret}`, ...headers },
  });
  return { status: answer.status, headers: answer.headers, bytes: Buffer.from(await answer.arrayBuffer()) };
}

test("a file is read with the secret key, byte for byte, and with headers under which it can run nowhere", async () => {
  const server = await startServer();
  const { secret } = await server.addEndpoint({ schema: applicationSchema });
  const bytes = pdf(700_001);
  const { path } = await upload(server, secret, bytes);
  const answer = await bytesOf(server, secret, path);
  expect(sha256(answer.bytes)).toBe(sha256(bytes));
  expect(Object.fromEntries(answer.headers)).toMatchObject({
    "content-type": "application/pdf",
    "content-length": "700001",
    "content-disposition":
      "attachment; filename=\"_ber _mich_ 100_.pdf\"; filename*=UTF-8''%C3%9Cber%20_mich_%20100%25.pdf",
    "x-content-type-options": "nosniff",
    "content-security-policy": "default-src 'none'; sandbox",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
    "accept-ranges": "bytes",
    etag: `"${sha256(bytes)}"`,
  });
});

test("a range of a file is answered with that part, across chunks, and a wrong one with its size", async () => {
  const server = await startServer();
  const { secret } = await server.addEndpoint({ schema: applicationSchema });
  const bytes = pdf(700_001);
  const { path } = await upload(server, secret, bytes);
  const part = async (range: string, more: Record<string, string> = {}) => {
    const answer = await bytesOf(server, secret, path, { range, ...more });
    return [answer.status, answer.headers.get("content-range"), sha256(answer.bytes)];
  };
  const of = (first: number, last: number) => sha256(bytes.subarray(first, last + 1));
  expect(await part("bytes=0-0")).toEqual([206, "bytes 0-0/700001", of(0, 0)]);
  expect(await part("bytes=262140-262150")).toEqual([
    206,
    "bytes 262140-262150/700001",
    of(262_140, 262_150),
  ]);
  expect(await part("bytes=262144-")).toEqual([206, "bytes 262144-700000/700001", of(262_144, 700_000)]);
  expect(await part("bytes=-5")).toEqual([206, "bytes 699996-700000/700001", of(699_996, 700_000)]);
  expect(await part("bytes=600000-9999999")).toEqual([
    206,
    "bytes 600000-700000/700001",
    of(600_000, 700_000),
  ]);
  for (const whole of ["bytes=5-2", "bytes=0-1,5-6", "lines=1-2", "bytes=-"])
    expect(await part(whole)).toEqual([200, null, sha256(bytes)]);
  expect(await part("bytes=0-0", { "if-range": '"another"' })).toEqual([200, null, sha256(bytes)]);
  expect(await part("bytes=0-0", { "if-range": `"${sha256(bytes)}"` })).toEqual([
    206,
    "bytes 0-0/700001",
    of(0, 0),
  ]);
  for (const beyond of ["bytes=700001-", "bytes=-0"]) {
    const answer = await read(server, secret, path, { range: beyond });
    expect([answer.status, answer.headers["content-range"]]).toEqual([416, "bytes */700001"]);
    expect(answer.json["message"]).toContain("700001 bytes");
  }
});

test("nobody else reaches a file: another key's is 404, a publishable key and a browser are refused", async () => {
  const server = await startServer();
  const mine = await server.addEndpoint({ schema: applicationSchema });
  const other = await server.addEndpoint({ schema: applicationSchema });
  const { id, path } = await upload(server, mine.secret, pdf());
  const theirs = await upload(server, other.secret, pdf());
  expect(await read(server, other.secret, path)).toMatchObject({ status: 404 });
  expect(await read(server, mine.publishable, path)).toMatchObject({ status: 403 });
  expect(await read(server, mine.secret, path, { origin: "https://example.com" })).toMatchObject({
    status: 403,
  });
  expect(await server.request({ method: "GET", path })).toMatchObject({ status: 401 });
  const foreign = theirs.path.split("/").at(-1) ?? "";
  for (const file of [foreign, "fil_00000000000000000000000000", "x", "%00"])
    expect(await read(server, mine.secret, `/submissions/${id}/files/${file}`)).toMatchObject({
      status: 404,
    });
});

test("the file of a submission that is deleted is gone, its bytes too, and a file that was not kept says so", async () => {
  const server = await startServer();
  const { secret } = await server.addEndpoint({ schema: applicationSchema });
  const { id, path } = await upload(server, secret, pdf());
  const lost = await upload(server, secret, pdf());
  server.owner
    .prepare("DELETE FROM file_chunk WHERE file_id IN (SELECT id FROM file WHERE submission_id = ?)")
    .run(lost.id);
  server.owner.prepare("DELETE FROM file WHERE submission_id = ?").run(lost.id);
  expect(await read(server, secret, lost.path)).toMatchObject({ status: 410, json: { error: "Gone" } });
  const removed = {
    method: "DELETE",
    path: `/submissions/${id}`,
    headers: { authorization: `Bearer ${secret}` },
  };
  expect(await server.request(removed)).toMatchObject({ status: 204 });
  expect(await read(server, secret, path)).toMatchObject({ status: 404 });
  // The clean-up of the next minute, as a start does it too.
  await server.restart();
  await until(() => server.owner.prepare("SELECT count(*) FROM file_chunk").pluck().get() === 0);
});
