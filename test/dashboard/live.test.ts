import { expect, onTestFinished, test } from "vitest";
import { defaultEndpointSettings } from "../../src/endpoints/endpoint.ts";
import { endSessions } from "../../src/sessions/session.ts";
import { exampleSchema } from "../support/example-schema.ts";
import { insertAccountRows } from "../../src/workspaces/workspace-store.ts";
import { type EventStream, openEvents } from "../support/event-stream.ts";
import { goodPost, startServer, type TestServer } from "../support/test-server.ts";
import { until } from "../support/until.ts";
import { visit } from "../support/visitor.ts";
import { makeEndpoint } from "../support/terminal.ts";

async function follow(server: TestServer, cookie: string, query = ""): Promise<EventStream> {
  const stream = await openEvents(`${server.url}/dashboard/events${query}`, cookie);
  onTestFinished(() => stream.close());
  return stream;
}

/** A second account with an endpoint; returns its secret key. */
async function addOwner(server: TestServer, email: string): Promise<string> {
  const { owner, clock, config } = server;
  const { workspace } = owner.now(() => insertAccountRows(email, clock.now()));
  const made = { name: "Theirs", definition: exampleSchema, settings: defaultEndpointSettings };
  const place = { workspace: workspace.id, plans: config.plans, now: clock.now() };
  return (await makeEndpoint(owner, made, place)).secret.text;
}

const counted = (count: number) => ({ name: "new", data: `{"count":${count}}` });

test("an open page hears that something new came and how many, and nothing of what it says", async () => {
  const server = await startServer();
  const ada = await visit(server);
  const endpoint = await server.addEndpoint();
  const stream = await follow(server, ada.cookie);
  expect(stream.status).toBe(200);
  expect(stream.headers).toMatchObject({
    "content-type": "text/event-stream; charset=utf-8",
    "x-accel-buffering": "no",
    "cache-control": "no-store",
  });
  await server.post(endpoint.secret, goodPost);
  expect(await stream.next()).toEqual(counted(1));
  await server.post(endpoint.secret, goodPost);
  expect(await stream.next()).toEqual(counted(2));
  expect(stream.text()).not.toContain("Ana");
});

test("what came after the submission that a page shows is counted too", async () => {
  const server = await startServer();
  const ada = await visit(server);
  const endpoint = await server.addEndpoint();
  const first = await server.post(endpoint.secret, goodPost);
  await server.post(endpoint.secret, goodPost);
  const stream = await follow(server, ada.cookie, `?after=${String(first.json["submission_id"])}`);
  expect(await stream.next()).toEqual(counted(1));
  expect((await ada.get("/dashboard/events?after=x")).status).toBe(400);
});

test("an owner hears nothing of another workspace; an operator hears of all", async () => {
  const server = await startServer();
  const ada = await visit(server);
  const endpoint = await server.addEndpoint();
  const theirs = await addOwner(server, "eve@example.com");
  const eve = await visit(server, "eve@example.com");
  const [operator, owner] = [await follow(server, ada.cookie), await follow(server, eve.cookie)];
  await server.post(endpoint.secret, goodPost);
  await server.post(endpoint.secret, goodPost);
  await until(() => operator.text().includes('"count":2'));
  await server.post(theirs, goodPost);
  expect(await owner.next()).toEqual(counted(1));
  await until(() => operator.text().includes('"count":3'));
});

test("what another process stores is heard of, as what this one does", async () => {
  const server = await startServer();
  const ada = await visit(server);
  const endpoint = await server.addEndpoint();
  await server.post(endpoint.secret, goodPost);
  const stream = await follow(server, ada.cookie);
  server.owner.execute(
    `INSERT INTO submission (id, endpoint_number, schema_version, data, spam_score, spam_reasons, ip_address, user_agent, created_at)
     SELECT 'sub_foreign', endpoint_number, 1, '{}', 0, '[]', '', '', 0 FROM submission`,
  );
  expect(await stream.next()).toEqual(counted(1));
});

test("a session has at most 4 streams; further ones are told to stop asking", async () => {
  const server = await startServer();
  const ada = await visit(server);
  const streams = await Promise.all(Array.from({ length: 6 }, () => follow(server, ada.cookie)));
  expect(streams.filter(({ status }) => status === 200)).toHaveLength(4);
  expect(streams.filter(({ status }) => status === 204)).toHaveLength(2);
  streams.find(({ status }) => status === 200)?.close();
  // A place is free as soon as the server has seen that the client left.
  await until(async () => (await follow(server, ada.cookie)).status === 200);
  const head = await server.request({
    method: "HEAD",
    path: "/dashboard/events",
    headers: { cookie: ada.cookie },
  });
  expect(head.status).toBe(204);
});

test("an account has at most 16 streams, however many sessions it has", async () => {
  const server = await startServer();
  const visitors = await Promise.all(Array.from({ length: 5 }, () => visit(server)));
  const cookies = visitors.flatMap(({ cookie }) => [cookie, cookie, cookie, cookie]);
  const streams = await Promise.all(cookies.map((cookie) => follow(server, cookie)));
  expect(streams.filter(({ status }) => status === 200)).toHaveLength(16);
  expect(streams.filter(({ status }) => status === 204)).toHaveLength(4);
  const eve = await visit(server, "eve@example.com");
  expect((await follow(server, eve.cookie)).status).toBe(200);
});

test("with 64 streams open no further one opens, and posts are taken as before", async () => {
  const server = await startServer();
  const visitors = [await visit(server)];
  // Other operators, who hear of all: an account has 16 streams at most.
  while (visitors.length < 17)
    visitors.push(await visit(server, `${Math.floor(visitors.length / 4)}@example.com`));
  server.owner.execute("UPDATE account SET is_operator = 1");
  const endpoint = await server.addEndpoint();
  // The key is known from now on, so that no post waits for its hash.
  await server.post(endpoint.secret, goodPost);
  const open = visitors.slice(0, 16).flatMap(({ cookie }) => Array.from({ length: 4 }, () => cookie));
  const streams = await Promise.all(open.map((cookie) => follow(server, cookie)));
  expect(streams.every(({ status }) => status === 200)).toBe(true);
  expect((await follow(server, visitors[16]?.cookie ?? "")).status).toBe(204);
  // One client may have 128 requests in work: with the streams among them there would be too many.
  const posts = await Promise.all(Array.from({ length: 120 }, () => server.post(endpoint.secret, goodPost)));
  expect(posts.filter(({ status }) => status === 200)).toHaveLength(120);
  await Promise.all(streams.map((stream) => until(() => stream.text().includes('"count":120'))));
});

test("a stop ends open streams at once and waits for none", async () => {
  const server = await startServer();
  const ada = await visit(server);
  const stream = await follow(server, ada.cookie);
  await server.restart();
  expect(await stream.next()).toBeNull();
  expect(server.log.join("")).not.toContain("server.grace-over");
});

test("a stream ends with its session, and tells nothing after it", async () => {
  const server = await startServer();
  const ada = await visit(server);
  const endpoint = await server.addEndpoint();
  const stream = await follow(server, ada.cookie);
  server.owner.now(() => endSessions(ada.accountId));
  await server.post(endpoint.secret, goodPost);
  expect(await stream.next()).toBeNull();
});

test("nobody follows without a session", async () => {
  const server = await startServer();
  expect((await follow(server, "")).status).toBe(303);
});
