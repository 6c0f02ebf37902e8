import { once } from "node:events";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, request, type RequestListener } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo, Server } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createAuthority } from "../support/certificates.ts";
import { makeTokenHere } from "../support/machine-database.ts";
import { emptyMachine, type OperatorMachine, operatorMachine } from "../support/operator-machine.ts";
import type { ProcessOptions, Ran } from "../support/program.ts";

/** A machine with a server and a token, and another one without a database. */
async function world() {
  const machine = operatorMachine();
  const endpoint = await machine.createEndpoint();
  const token = await makeTokenHere(machine.folder);
  const { url } = await machine.serveHere();
  return { machine, endpoint, token, url, away: emptyMachine() };
}

async function listen(server: Server): Promise<number> {
  server.listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

/** A server that is none of ours, and the Authorization headers that it was sent. */
async function strangeServer(
  answer: RequestListener,
): Promise<{ url: string; tokens: (string | undefined)[] }> {
  const tokens: (string | undefined)[] = [];
  const server = createServer((asked, reply) => {
    tokens.push(asked.headers.authorization);
    answer(asked, reply);
  });
  return { url: `http://127.0.0.1:${await listen(server)}`, tokens };
}

/** A user's folder with a context that is in use, as `login` leaves it. */
function logIn(machine: OperatorMachine, server: string, token: string): { XDG_CONFIG_HOME: string } {
  const folder = machine.path("home/formsvc");
  mkdirSync(folder, { recursive: true });
  const context = { name: "work", server, token, token_id: "tok_1", expires_at: null };
  writeFileSync(join(folder, "contexts.json"), JSON.stringify({ in_use: "work", contexts: [context] }), {
    mode: 0o600,
  });
  return { XDG_CONFIG_HOME: machine.path("home") };
}

const LIST = ["endpoint", "list", "--json"];
const idsOf = (ran: Ran): string[] => {
  if (ran.code !== 0) throw new Error(ran.stderr);
  return (ran.json() as { data: { id: string }[] }).data.map(({ id }) => id);
};

test("a flag, a variable or the context in use chooses the server; a database that is named comes before a context", async () => {
  const { machine, endpoint, token, url, away } = await world();
  const variables = { FORMSVC_SERVER: url, FORMSVC_TOKEN: token };
  const context = logIn(away, url, token);
  const ways: [args: string[], env: Record<string, string>][] = [
    [[...LIST, "--server", url], { FORMSVC_TOKEN: token }],
    [["--server", `${url}/`, ...LIST], { FORMSVC_TOKEN: token }],
    [LIST, variables],
    [[...LIST, "--server", url], context],
    [LIST, context],
    [LIST, { FORMSVC_SERVER: url, ...context }],
    [[...LIST, "--db", machine.database], variables],
    [LIST, { FORMSVC_DATABASE_PATH: machine.database, ...logIn(machine, "http://127.0.0.1:9", token) }],
  ];
  for (const [args, env] of ways)
    expect(idsOf(await away.run(args, { env })), args.join(" ")).toEqual([endpoint.id]);
  const both = await away.run([...LIST, "--server", url, "--db", "x.db"], { env: variables });
  expect([both.code, both.stderr]).toEqual([2, expect.stringContaining("give one of them")]);
});

test("a token goes to its own server only, and no redirect is followed", async () => {
  const { token, url, away } = await world();
  const elsewhere = await strangeServer((_asked, reply) => reply.end("{}"));
  const redirecting = await strangeServer((_asked, reply) =>
    reply.writeHead(307, { location: `${elsewhere.url}/api/v1/endpoints` }).end(),
  );
  const env = { FORMSVC_SERVER: url, FORMSVC_TOKEN: token };
  for (const given of [env, logIn(away, url, token)]) {
    const other = await away.run([...LIST, "--server", elsewhere.url], { env: given });
    expect([other.code, other.stderr]).toEqual([
      1,
      expect.stringContaining(`formsvc login ${elsewhere.url}`),
    ]);
  }
  const led = await away.run([...LIST, "--server", redirecting.url], { env: { FORMSVC_TOKEN: token } });
  expect([led.code, led.stderr]).toEqual([2, expect.stringContaining(elsewhere.url)]);
  expect([redirecting.tokens, elsewhere.tokens]).toEqual([[`Bearer ${token}`], []]);
});

/** A server with TLS in front of another one. */
async function tlsFor(url: string, certificate: { key: string; cert: string }): Promise<string> {
  const forward = (asked: IncomingMessage, path: string) =>
    request(`${url}${path}`, { method: asked.method, headers: asked.headers });
  const server = createTlsServer(certificate, (asked, reply) => {
    const onward = forward(asked, asked.url ?? "");
    onward.on("response", (answer) => {
      reply.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(reply);
    });
    asked.pipe(onward);
  });
  return `https://127.0.0.1:${await listen(server)}`;
}

test("over TLS a certificate must be good; NODE_EXTRA_CA_CERTS names an authority of one's own", async () => {
  const { endpoint, token, url, away } = await world();
  const authority = createAuthority();
  onTestFinished(() => authority.remove());
  const ca = away.write("ca.pem", authority.cert);
  const env = { FORMSVC_TOKEN: token, NODE_EXTRA_CA_CERTS: ca };
  const good = await tlsFor(url, authority.issue("IP:127.0.0.1"));
  expect(idsOf(await away.run([...LIST, "--server", good], { env }))).toEqual([endpoint.id]);
  const set = ["endpoint", "set", endpoint.id, "--keep-days", "7", "--json", "--server", good];
  expect((await away.run(set, { env })).json()).toMatchObject({ endpoint: { keep_days: 7 } });
  const bad: [server: string, env: Record<string, string>][] = [
    [good, { FORMSVC_TOKEN: token }],
    [await tlsFor(url, authority.issue("DNS:forms.example.com")), env],
    [await tlsFor(url, authority.issue("IP:127.0.0.1", -1)), env],
  ];
  for (const [server, given] of bad) {
    const ran = await away.run([...LIST, "--server", server], { env: given });
    expect([ran.code, ran.stderr]).toEqual([5, expect.stringContaining(server)]);
  }
});

test("what is no answer of ours is told with the address: 5 without a connection or for a failure, 3 for nothing there", async () => {
  const { away } = await world();
  const env = { FORMSVC_TOKEN: "fat_x" };
  const page = (status: number) =>
    strangeServer((_asked, reply) =>
      reply.writeHead(status, { "content-type": "text/html" }).end("<h1>No</h1>"),
    );
  const cut = await strangeServer((asked) => asked.socket.destroy());
  const cases: [server: string, code: number][] = [
    ["http://127.0.0.1:9", 5],
    [cut.url, 5],
    [(await page(502)).url, 5],
    [(await page(500)).url, 5],
    [(await page(404)).url, 3],
    [(await page(403)).url, 1],
    [(await page(429)).url, 1],
    [(await page(200)).url, 5],
  ];
  for (const [server, code] of cases) {
    const ran = await away.run([...LIST, "--server", server], { env });
    expect([server, ran.code, ran.stdout]).toEqual([server, code, ""]);
    expect(JSON.parse(ran.stderr)).toMatchObject({ message: expect.stringContaining(server) as string });
  }
});

test("a token that is unknown or does not have the scope exits with 1", async () => {
  const { machine, url, away } = await world();
  const unknown = await away.run([...LIST, "--server", url], { env: { FORMSVC_TOKEN: "fat_unknown" } });
  expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringContaining(`formsvc login ${url}`)]);
  const narrow = await machine.json<{ secret: string }>([
    "token",
    "create",
    "--name",
    "x",
    "--scope",
    "endpoints:read",
  ]);
  const env = { FORMSVC_TOKEN: narrow.secret, FORMSVC_SERVER: url };
  const refused = await away.run(["webhook", "list"], { env });
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("recipients:read")]);
  // What only makes a list nicer to read is left out for such a token.
  expect((await away.run(["endpoint", "list"], { env })).code).toBe(0);
});

test.each([
  [["backup", "copy.db"]],
  [["restore", "copy.db"]],
  [["migrate", "status"]],
  [["copy", "--to", "other.db"]],
  [["secrets", "status"]],
  [["doctor"]],
  [["mail", "check"]],
  [["mail", "test", "ada@example.org"]],
  [["account", "sign-in-link", "ada@example.org"]],
  [["token", "create", "--name", "x"]],
  [["token", "list"]],
  [["token", "revoke", "tok_x"]],
])("%j is refused at a distance with 2, naming the server", async (args) => {
  const away = emptyMachine();
  const server = "https://forms.example.com";
  const ran = await away.run([...args, "--server", server], { env: { FORMSVC_TOKEN: "fat_x" } });
  expect([ran.code, ran.stdout, ran.stderr]).toEqual([2, "", expect.stringContaining(server)]);
});

test("what is purely local ignores the server", async () => {
  const away = emptyMachine();
  const env = { FORMSVC_SERVER: "https://forms.example.com" };
  away.write("fields.json", { name: { type: "string" } });
  for (const args of [
    ["version"],
    ["completion", "bash"],
    ["config", "show"],
    ["help", "environment"],
    ["docs", "webhooks"],
    ["schema", "check", "fields.json"],
    ["init"],
  ])
    expect([args, (await away.run(args, { env })).code]).toEqual([args, 0]);
});

test("what works on the machine of the database only says so, and how to name one of this machine", async () => {
  const env = { FORMSVC_SERVER: "https://forms.example.com", FORMSVC_TOKEN: "fat_x" };
  const ran = await emptyMachine().run(["doctor"], { env });
  const where =
    "run it on the machine of https://forms.example.com, or name a database of this machine with --db";
  expect([ran.code, ran.stderr]).toEqual([2, expect.stringContaining(where)]);
});

test.each<[server: string]>([
  ["http://forms.example.com"],
  ["forms.example.com"],
  ["https://a.example/path"],
  ["ftp://a.example"],
])("the address %s is refused before anything is sent", async (server) => {
  const away = emptyMachine();
  for (const [args, env] of [
    [[...LIST, "--server", server], {}],
    [LIST, { FORMSVC_SERVER: server }],
  ] as [string[], NonNullable<ProcessOptions["env"]>][]) {
    const ran = await away.run(args, { env: { FORMSVC_TOKEN: "fat_x", ...env } });
    expect([ran.code, ran.stderr]).toEqual([2, expect.stringContaining("https")]);
  }
});

test("contexts that others can read, or that are none, are refused with the file's name", async () => {
  const away = emptyMachine();
  const env = logIn(away, "https://forms.example.com", "fat_x");
  const file = away.path("home/formsvc/contexts.json");
  chmodSync(file, 0o644);
  const open = await away.run(LIST, { env });
  expect([open.code, open.stderr]).toEqual([2, expect.stringContaining("chmod 600")]);
  writeFileSync(file, "{}");
  chmodSync(file, 0o600);
  const broken = await away.run(LIST, { env });
  expect([broken.code, broken.stderr]).toEqual([2, expect.stringContaining("contexts.json")]);
  expect((await away.run(["version"], { env })).code).toBe(0);
});

/** What runs the program without the right of root to enter each folder. Other users have no such right. */
const WITHOUT_RIGHTS =
  process.getuid?.() === 0 ? ["setpriv", "--inh-caps=-all", "--bounding-set=-all", "--reuid=0"] : [];

test("contexts that this user may not read stop commands that could work on a server, with the way past them, and no others", async () => {
  const { machine, endpoint } = await world();
  const env = logIn(machine, "https://forms.example.com", "fat_x");
  chmodSync(machine.path("home"), 0);
  onTestFinished(() => chmodSync(machine.path("home"), 0o700));
  const run = (args: readonly string[], more = {}) =>
    machine.run(args, { env: { ...env, FORMSVC_CONFIG: "", ...more }, within: WITHOUT_RIGHTS });
  const refused = await run(LIST);
  expect([refused.code, refused.stdout]).toEqual([2, ""]);
  expect(refused.stderr).toMatch(
    /contexts\.json: this user may not read it; set XDG_CONFIG_HOME .*--db or FORMSVC_DATABASE_PATH/,
  );
  const byHome = await run(LIST, { XDG_CONFIG_HOME: "", HOME: machine.path("home") });
  expect(byHome.stderr).toMatch(/contexts\.json: this user may not read it; set HOME /);
  expect(idsOf(await run([...LIST, "--db", machine.database]))).toEqual([endpoint.id]);
  expect(idsOf(await run(LIST, { FORMSVC_DATABASE_PATH: machine.database }))).toEqual([endpoint.id]);
  for (const args of [
    ["migrate", "status"],
    ["backup", "copy.db"],
  ])
    expect(await run(args)).toMatchObject({ code: 0 });
});
