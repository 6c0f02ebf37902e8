import { expect, test } from "vitest";
import type { Scope } from "../../src/operations/access.ts";
import { insertAccountRows } from "../../src/workspaces/workspace-store.ts";
import { askWith, makeToken } from "../support/api-client.ts";
import { startServer } from "../support/test-server.ts";
import { applicationSchema, pdf, PNG, postFiles, sha256, storedFiles } from "../support/uploads.ts";

async function world() {
  const server = await startServer();
  const { secret, workspaceId, id: endpointId } = await server.addEndpoint({ schema: applicationSchema });
  const cv = pdf(600_000);
  const sent = await postFiles(server, secret, [
    ["name", "Ana"],
    ["cv", { name: "Lebenslauf Ü.pdf", bytes: cv }],
    ["cv", { name: "photo.png", bytes: PNG }],
  ]);
  const [first, second] = sent.files as [(typeof sent.files)[0], (typeof sent.files)[0]];
  const token = (scopes: readonly Scope[], whose = {}) =>
    makeToken(server, scopes, { workspace: workspaceId, ...whose });
  return { server, secret, endpointId, cv, submission: sent.id, first, second, token };
}

async function bytesOf(url: string, token: string, headers: Record<string, string> = {}) {
  const answer = await fetch(url, { headers: { authorization: `Bearer ${token}`, ...headers } });
  return { status: answer.status, headers: answer.headers, bytes: Buffer.from(await answer.arrayBuffer()) };
}

test("a token lists files page by page, newest first, and those of one submission or endpoint", async () => {
  const { server, secret, endpointId, submission, first, second, token } = await world();
  const other = await postFiles(server, secret, [
    ["name", "Bo"],
    ["cv", { name: "b.pdf", bytes: pdf(3000, "b") }],
  ]);
  const ask = askWith(server, await token(["submissions:read"]));
  const listed = async (query: string) => {
    const { json } = await ask("GET", "/files", { query });
    return { ids: (json["data"] as { id: string }[]).map(({ id }) => id), next: json["next_cursor"] };
  };
  expect(await listed("")).toEqual({ ids: [other.files[0]?.id, second.id, first.id], next: null });
  expect((await listed(`submission=${submission}`)).ids).toEqual([second.id, first.id]);
  expect((await listed(`endpoint=${endpointId}`)).ids).toHaveLength(3);
  const page = await listed("limit=2");
  expect(page.ids).toEqual([other.files[0]?.id, second.id]);
  expect(await listed(`limit=2&cursor=${String(page.next)}`)).toEqual({ ids: [first.id], next: null });

  await ask("GET", "/files", { query: "submission=sub_00000000000000000000000000" }).then(({ status }) =>
    expect(status).toBe(404),
  );
  const bin = askWith(server, await token(["submissions:write"]));
  await bin("POST", "/submissions/delete", { body: { submissions: [other.id] } });
  // A page leaves out what is in the bin, and tells where the next one begins.
  const rest = await listed("limit=1");
  expect(rest.ids).toEqual([]);
  expect((await listed(`limit=1&cursor=${String(rest.next)}`)).ids).toEqual([second.id]);
  expect(await ask("GET", "/files", { query: `cursor=${submission}` })).toMatchObject({
    status: 400,
    json: { message: expect.stringContaining("cursor") as string },
  });
});

test("a token reads a file's facts and its bytes, with headers under which it can run nowhere", async () => {
  const { server, cv, submission, endpointId, first, token } = await world();
  const text = await token(["submissions:read"]);
  const shown = await askWith(server, text)("GET", `/files/${first.id}`);
  expect(shown.json).toEqual({
    file: {
      ...first,
      name: "Lebenslauf Ü.pdf",
      sha256: sha256(cv),
      submission_id: submission,
      endpoint_id: endpointId,
      created_at: expect.stringMatching(/Z$/) as unknown,
    },
  });
  for (const path of [`/api/v1/files/${first.id}/content`, `/submissions/${submission}/files/${first.id}`]) {
    const { status, headers, bytes } = await bytesOf(`${server.url}${path}`, text);
    expect([path, status, sha256(bytes)]).toEqual([path, 200, sha256(cv)]);
    expect(Object.fromEntries(headers)).toMatchObject({
      "content-type": "application/pdf",
      "content-length": "600000",
      "content-disposition":
        "attachment; filename=\"Lebenslauf _.pdf\"; filename*=UTF-8''Lebenslauf%20%C3%9C.pdf",
      "x-content-type-options": "nosniff",
      "content-security-policy": "default-src 'none'; sandbox",
      "cache-control": "no-store",
    });
  }
  const part = await bytesOf(`${server.url}/submissions/${submission}/files/${first.id}`, text, {
    range: "bytes=262140-262150",
  });
  expect([part.status, part.bytes]).toEqual([206, cv.subarray(262_140, 262_151)]);
});

test("a token that may not read submissions, or sees another workspace alone, gets no byte", async () => {
  const { server, submission, first, token } = await world();
  const stranger = server.owner.now(() => insertAccountRows("eve@example.com", server.clock.now())).account;
  const paths = [`/api/v1/files/${first.id}/content`, `/submissions/${submission}/files/${first.id}`];
  const blind = await token(["endpoints:write"]);
  const foreign = await makeToken(server, ["submissions:write"], { account: stranger.email });
  for (const path of paths) {
    expect((await bytesOf(`${server.url}${path}`, blind)).status).toBe(403);
    expect((await bytesOf(`${server.url}${path}`, foreign)).status).toBe(404);
    expect((await bytesOf(`${server.url}${path}`, `fat_${"0".repeat(60)}`)).status).toBe(401);
  }
  const reader = await token(["submissions:read"]);
  for (const wrong of ["fil_00000000000000000000000000", "x", "%00"]) {
    expect((await bytesOf(`${server.url}/submissions/${submission}/files/${wrong}`, reader)).status).toBe(
      404,
    );
    expect((await askWith(server, reader)("GET", `/files/${wrong}/content`)).status).toBe(404);
  }
  expect((await askWith(server, reader)("DELETE", `/files/${first.id}`)).status).toBe(403);
  expect((await askWith(server, foreign)("DELETE", `/files/${first.id}`)).status).toBe(404);
  expect(storedFiles(server.owner).files).toHaveLength(2);
});

test("a deleted file keeps its name and size in the submission and is 410 from then on; others stay", async () => {
  const { server, secret, submission, first, second, token } = await world();
  const ask = askWith(server, await token(["submissions:write"]));
  const { headers } = await ask("GET", `/files/${first.id}`);
  const stale = { headers: { "if-match": '"another"' } };
  expect((await ask("DELETE", `/files/${first.id}`, stale)).status).toBe(412);
  const match = { headers: { "if-match": String(headers["etag"]) } };
  expect((await ask("DELETE", `/files/${first.id}`, match)).status).toBe(204);
  expect((await ask("DELETE", `/files/${first.id}`)).status).toBe(404);
  const { json } = await ask("GET", `/submissions/${submission}`);
  expect(json["data"]).toEqual({ name: "Ana", cv: [{ ...first, state: "deleted" }, second] });
  const stored = storedFiles(server.owner);
  expect(stored.files.map(({ id }) => id)).toEqual([second.id]);
  expect(stored.chunks).toBe(1);
  const gone = await bytesOf(`${server.url}/submissions/${submission}/files/${first.id}`, secret);
  expect(gone.status).toBe(410);
  expect((await bytesOf(`${server.url}/submissions/${submission}/files/${second.id}`, secret)).bytes).toEqual(
    PNG,
  );
  const { json: events } = await ask("GET", "/events");
  expect(events["data"]).toContainEqual(expect.objectContaining({ type: "file.delete", ids: [first.id] }));
});
