import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { operatorMachine, type OperatorMachine } from "../support/operator-machine.ts";
import { examplePost, patiently, postPatiently, tryPost } from "../support/posts.ts";
import { startReceiverWith } from "../support/receivers.ts";
import { startLink } from "../support/faulty-link.ts";
import { startMailServer } from "../support/smtp-servers.ts";
import {
  addressInCluster,
  hasPostgresql,
  openForTest,
  temporaryAddress,
} from "../support/temporary-postgresql.ts";
import { run, text } from "../../src/database/steps.ts";
import { until } from "../support/until.ts";

const EMPTY = "TEMPLATE template0";
const ADA = "ada@example.com";
/** The password of the tests' cluster, as it is and as the address has it. */
const SECRET = /a\/b@c|a%2Fb%40c/;

/** A machine whose commands work on a PostgreSQL database, which is brought up to date. @param from what the database is made of */
async function postgresqlMachine(settings: Record<string, unknown> = {}, from?: string) {
  const address = await temporaryAddress(from);
  const machine = operatorMachine();
  machine.configure({ database: { url: address }, ...settings });
  return { machine, address };
}

/** Posts as a plain form of a page does. */
function postForm(url: string, key: string, headers: Record<string, string> = {}): Promise<Response> {
  const body = new URLSearchParams(examplePost);
  return fetch(`${url}/f/${key}`, { method: "POST", body, headers, redirect: "manual" });
}

/** Signs in with a link of the command line; the cookie. */
async function signIn(machine: OperatorMachine, url: string): Promise<string> {
  const link = await machine.json<{ url: string }>(["account", "sign-in-link", ADA]);
  const token = new URL(link.url).hash.slice(1);
  const answer = await patiently(() =>
    fetch(`${url}/dashboard/sign-in/link`, {
      method: "POST",
      headers: { "sec-fetch-site": "same-origin" },
      body: new URLSearchParams({ token, new_password: "correct horse battery" }),
      redirect: "manual",
    }),
  );
  expect(answer.status).toBe(303);
  return answer.headers.get("set-cookie")?.split(";")[0] ?? "";
}

describe.skipIf(!hasPostgresql)("a server on PostgreSQL", () => {
  // The shared cluster may have to be started first.
  beforeAll(() => addressInCluster("postgres"), 120_000);

  test("makes the tables of an empty database, takes posts of every kind, and has them after a restart", async () => {
    const { machine } = await postgresqlMachine({}, EMPTY);
    let server = await machine.serve();
    expect(server.lines.map(({ event }) => event)).toContain("database.created");
    const endpoint = await machine.createEndpoint({ allowOrigin: ["https://shop.example"] });
    const ids = [await postPatiently(server.url, endpoint.secret)];
    const origin = { origin: "https://shop.example" };
    const fromPage = await patiently(() => tryPost(server.url, endpoint.publishable, examplePost, origin));
    expect([fromPage.status, fromPage.headers.get("access-control-allow-origin")]).toEqual([
      200,
      "https://shop.example",
    ]);
    expect((await patiently(() => postForm(server.url, endpoint.publishable, origin))).status).toBe(200);
    const elsewhere = { origin: "https://other.example" };
    const refused = await patiently(() => tryPost(server.url, endpoint.publishable, examplePost, elsewhere));
    expect(refused.status).toBe(403);
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200);

    const sending = Promise.allSettled(
      Array.from({ length: 20 }, () => tryPost(server.url, endpoint.secret)),
    );
    expect(await server.stop()).toBe(0);
    const taken = (await sending).filter((each) => each.status === "fulfilled" && each.value.status === 200);
    const stored = 3 + taken.length;
    expect(server.stderr()).toBe("");
    server = await machine.serve();
    expect(await machine.stored(endpoint)).toHaveLength(stored);
    const headers = { authorization: `Bearer ${endpoint.secret}` };
    const shown = await patiently(() => fetch(`${server.url}/submissions/${ids[0]}`, { headers }));
    expect(await shown.json()).toMatchObject({ id: ids[0], data: examplePost });
  });

  test("delivers to a webhook and by e-mail, and its dashboard shows what came", async () => {
    const mail = await startMailServer();
    await using receiver = await startReceiverWith((response) => response.end());
    const { machine } = await postgresqlMachine({
      mail: { host: "127.0.0.1", port: mail.port, security: "none", from: "forms@example.com" },
      webhooks: { allowNetworks: ["127.0.0.0/8"] },
    });
    const server = await machine.serveHere();
    await machine.mustRun(["account", "create", ADA]);
    const endpoint = await machine.createEndpoint();
    const hook = ["webhook", "create", "--url", receiver.url, "--endpoint", endpoint.id];
    await machine.mustRun([...hook, "--allow-private"]);
    await machine.mustRun(["recipient", "add", ADA, "--endpoint", endpoint.id]);
    const id = await postPatiently(server.url, endpoint.secret, { ...examplePost, name: "Grace" });
    await until(() => receiver.received.length > 0);
    expect(receiver.received[0]?.body.toString()).toContain(id);
    await until(() => mail.received.some(({ raw }) => raw.toString().includes("Grace")));

    const cookie = await signIn(machine, server.url);
    const inbox = await patiently(() => fetch(`${server.url}/dashboard`, { headers: { cookie } }));
    expect([inbox.status, await inbox.text()]).toEqual([200, expect.stringContaining("Grace")]);
    const system = await patiently(() => fetch(`${server.url}/dashboard/system`, { headers: { cookie } }));
    const systemPage = await system.text();
    expect([system.status, systemPage]).toEqual([200, expect.stringContaining("postgresql://")]);
    expect(systemPage).not.toMatch(SECRET);
    const deliveries = async () =>
      machine.json<{ data: { state: string }[] }>(["webhook", "deliveries", "--submission", id]);
    await until(async () => (await deliveries()).data[0]?.state === "delivered");
  });

  test("takes up what commands change beside it, and refuses a key that was revoked", async () => {
    const { machine } = await postgresqlMachine();
    const server = await machine.serveHere();
    const endpoint = await machine.createEndpoint();
    await postPatiently(server.url, endpoint.publishable);
    await machine.mustRun(["endpoint", "pause", endpoint.id]);
    await until(async () => (await tryPost(server.url, endpoint.publishable)).status === 403);
    await machine.mustRun(["endpoint", "resume", endpoint.id]);
    await until(async () => (await tryPost(server.url, endpoint.publishable)).status === 200);
    const { data } = await machine.json<{ data: { id: string; kind: string }[] }>([
      "key",
      "list",
      endpoint.id,
    ]);
    const key = data.find(({ kind }) => kind === "publishable")?.id ?? "";
    await machine.mustRun(["key", "revoke", key]);
    await until(async () => (await tryPost(server.url, endpoint.publishable)).status === 401);
    expect((await patiently(() => tryPost(server.url, endpoint.secret))).status).toBe(200);
  });

  test("refuses posts in a sentence when a newer program ended it, and does not start on such tables", async () => {
    const { machine, address } = await postgresqlMachine();
    const server = await machine.serveHere();
    const endpoint = await machine.createEndpoint();
    await postPatiently(server.url, endpoint.secret);
    const db = await openForTest(address);
    await db.transaction(() => run(text("UPDATE schema_version SET version = 1000, oldest_program = 1000")));
    await until(async () => (await tryPost(server.url, endpoint.secret)).status === 503);
    const answer = (await (await tryPost(server.url, endpoint.secret)).json()) as { message: string };
    expect(answer.message).toContain("The database was upgraded");
    expect((await fetch(`${server.url}/readyz`)).status).toBe(503);
    await until(() => server.lines.some(({ event }) => event === "database.upgraded"));
    const next = await machine.run(["serve", "--port", "0"], { isRefused: true });
    expect([next.code, next.stderr]).toEqual([5, expect.stringContaining("made by a newer formsvc")]);
  });

  test("answers no request with a key while it hears nothing of the database, and goes on when it does", async () => {
    const { machine, address } = await postgresqlMachine();
    const link = await startLink(address);
    const server = await machine.serve({ args: ["--db", link.address] });
    const endpoint = await machine.createEndpoint();
    await machine.mustRun(["account", "create", ADA]);
    const cookie = await signIn(machine, server.url);
    await postPatiently(server.url, endpoint.secret);
    link.silence();
    const read = () =>
      fetch(`${server.url}/submissions`, { headers: { authorization: `Bearer ${endpoint.secret}` } });
    await until(async () => (await read()).status === 503);
    expect((await tryPost(server.url, endpoint.publishable)).status).toBe(503);
    // Whose session goes on nobody can know either; the page with these words asks the database nothing.
    const page = await fetch(`${server.url}/dashboard/usage`, { headers: { cookie } });
    expect([page.status, await page.text()]).toEqual([
      503,
      expect.stringContaining("The database does not answer; try again shortly.") as string,
    ]);
    await until(async () => (await fetch(`${server.url}/readyz`)).status === 503);
    expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
    // Nobody knows of it before the link is whole again.
    await machine.mustRun(["endpoint", "pause", endpoint.id]);
    link.resume();
    await until(async () => (await read()).status === 200);
    expect((await patiently(() => tryPost(server.url, endpoint.publishable))).status).toBe(403);
    await until(async () => (await fetch(`${server.url}/readyz`)).status === 200);
    await until(() => server.lines.some(({ event }) => event === "database.heard"));
    const since = server.lines.length;
    link.redirect("postgresql://a@127.0.0.1:1/none");
    link.cut();
    const unheard = () => server.lines.slice(since).find(({ event }) => event === "database.unheard");
    await until(unheard);
    expect(unheard()).toMatchObject({ reason: expect.stringContaining("the connection broke") as string });
    expect(await server.stop()).toBe(0);
    expect(server.log() + server.stderr()).not.toMatch(SECRET);
  });

  test("leaves the list of servers when it stops, and another one takes its place beside it", async () => {
    const { machine, address } = await postgresqlMachine();
    const [one, other] = [await machine.serve(), await machine.serve()];
    const db = await openForTest(address);
    const count = async () => {
      const { rows } = await db.withConnection((client) => client.query("SELECT id FROM live_server"));
      return rows.length;
    };
    expect(await count()).toBe(2);
    expect(await one.stop()).toBe(0);
    expect(await count()).toBe(1);
    expect((await fetch(`${other.url}/readyz`)).status).toBe(200);
    other.process.kill("SIGKILL");
    onTestFinished(async () => void (await other.ended));
  });
});
