import { expect, test } from "vitest";
import { revokeKey } from "../../src/keys/issue-key.ts";
import { listKeys } from "../../src/keys/key-store.ts";
import { askWith, makeToken } from "../support/api-client.ts";
import { goodPost, startServer, type TestEndpoint, type TestServer } from "../support/test-server.ts";
import { until } from "../support/until.ts";
import { NUMBER_OF_ENDPOINT } from "../../src/submissions/stored/endpoint-number.ts";
import { changeEndpoint, changeSchema, removeEndpoint, replaceKey } from "../support/terminal.ts";

/** "Within a second" with room for a machine under load; the server looks every 200 ms. */
const SOON_MS = 1000;
const NOISE_MS = 20_000;

interface Ready extends TestEndpoint {
  readonly server: TestServer;
  readonly post: (headers?: Record<string, string>) => Promise<number>;
}

/** An endpoint whose key the server has in memory, so that only a notice can change its mind. */
async function ready(): Promise<Ready> {
  const server = await startServer();
  const endpoint = await server.addEndpoint();
  const post = async (headers: Record<string, string> = {}) =>
    (await server.post(endpoint.publishable, goodPost, headers)).status;
  expect(await post()).toBe(200);
  return { ...endpoint, server, post };
}

function changeEndpointOf({ owner }: TestServer, id: string, state: "paused" | "active") {
  return owner.transaction(() => changeEndpoint(id, { state }));
}

async function within(expected: number, post: () => Promise<number>): Promise<void> {
  const from = performance.now();
  await until(async () => (await post()) === expected);
  expect(performance.now() - from).toBeLessThan(SOON_MS + NOISE_MS);
}

test("a revoked key is refused within a second, and its endpoint's other key is not", async () => {
  const { server, id, secret, post } = await ready();
  const publishable = server.owner.now(() => listKeys(id)).find(({ kind }) => kind === "publishable");
  server.owner.now(() => revokeKey(publishable!.id, server.clock.now()));
  await within(401, post);
  expect((await server.post(secret, goodPost)).status).toBe(200);
});

test("a change of one endpoint leaves the others in memory, whoever makes it", async () => {
  const { server, id, post } = await ready();
  const other = await server.addEndpoint();
  const postOther = async () => (await server.post(other.publishable, goodPost)).status;
  // So the server has heard of all that made the endpoints.
  await server.restart();
  expect([await post(), await postOther()]).toEqual([200, 200]);
  // The server is not told of it, so it refuses posts only if it reads the endpoint again.
  server.owner.execute(`UPDATE endpoint SET state = 'paused' WHERE id = '${other.id}'`);
  await changeEndpointOf(server, id, "paused");
  await within(403, post);
  expect(await postOther()).toBe(200);
  const ask = askWith(server, await makeToken(server, ["endpoints:write"]));
  expect((await ask("POST", `/endpoints/${id}/resume`)).status).toBe(200);
  expect([await post(), await postOther()]).toEqual([200, 200]);
  expect((await ask("POST", `/endpoints/${id}/pause`)).status).toBe(200);
  expect([await post(), await postOther()]).toEqual([403, 200]);
  // What a program of an earlier version changes may be anything.
  server.owner.execute("UPDATE settings_version SET version = version + 1");
  await within(403, postOther);
});

test("a rotated key dies at once, its successor works at once", async () => {
  const { server, id, post } = await ready();
  const old = server.owner.now(() => listKeys(id)).find(({ kind }) => kind === "publishable");
  const { text } = await replaceKey(server.owner, { key: old!.lookup, graceMs: 0 }, server.clock.now());
  expect((await server.post(text, goodPost)).status).toBe(200);
  await within(401, post);
});

test("a key rotated with grace works until the grace has ended, and not a millisecond longer", async () => {
  const { server, id, post } = await ready();
  const old = server.owner.now(() => listKeys(id)).find(({ kind }) => kind === "publishable");
  const { text } = await replaceKey(server.owner, { key: old!.id, graceMs: 3_600_000 }, server.clock.now());
  await server.restart();
  server.clock.advance(3_599_999);
  expect(await post()).toBe(200);
  server.clock.advance(1);
  expect(await post()).toBe(401);
  expect((await server.post(text, goodPost)).status).toBe(200);
});

test("a paused endpoint forbids within a second and takes posts again when resumed", async () => {
  const { server, id, post } = await ready();
  server.owner.now(() => changeEndpoint(id, { state: "paused" }));
  await within(403, post);
  server.owner.now(() => changeEndpoint(id, { state: "active" }));
  await within(200, post);
});

test("a deleted endpoint's keys are unknown within a second", async () => {
  const { server, id, post } = await ready();
  await removeEndpoint(server.owner, id);
  await within(401, post);
});

test("allowed origins, honeypots and unknown fields are in force within a second", async () => {
  const { server, id, post } = await ready();
  server.owner.now(() => changeEndpoint(id, { settings: { allowedOrigins: ["https://example.com"] } }));
  await within(403, post);
  expect(await post({ origin: "https://example.com" })).toBe(200);
});

test("a changed schema checks later posts, which record its version; earlier ones keep theirs", async () => {
  const { server, id, post } = await ready();
  server.owner.now(() => changeSchema(id, { phone: { type: "string", required: true } }, server.clock.now()));
  await within(400, post);
  expect((await server.post((await server.addEndpoint()).secret, goodPost)).status).toBe(200);
  const versions = server.owner
    .prepare(`SELECT schema_version FROM submission WHERE endpoint_number = ${NUMBER_OF_ENDPOINT}`)
    .pluck();
  expect(new Set(versions.all(id))).toEqual(new Set([1]));
  server.owner.now(() => changeSchema(id, { name: { type: "string" } }, server.clock.now()));
  await within(200, post);
  expect(new Set(versions.all(id))).toEqual(new Set([1, 3]));
});

test("a secret key that a browser sent is marked for its owner, once an hour", async () => {
  const { server, id, secret } = await ready();
  const seen = () =>
    server.owner.now(() => listKeys(id)).find(({ kind }) => kind === "secret")?.seenInBrowserAt;
  const fromBrowser = () => server.post(secret, goodPost, { origin: "https://example.com" });
  const first = server.clock.now();
  await fromBrowser();
  expect(seen()).toBe(first);
  server.clock.advance(3_599_999);
  await fromBrowser();
  expect(seen()).toBe(first);
  server.clock.advance(1);
  await fromBrowser();
  expect(seen()).toBe(first + 3_600_000);
});
