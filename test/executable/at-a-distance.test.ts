import { readFileSync } from "node:fs";
import { createServer as createHttpServer, type IncomingMessage, request as requestHttp } from "node:http";
import { createServer as createTlsServer, request as requestTls } from "node:https";
import { createInterface } from "node:readline";
import type { AddressInfo } from "node:net";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { expect, onTestFinished, test } from "vitest";
import { agentOf, connectAgent, insideOf, newClient } from "../support/agent.ts";
import { type Authority, createAuthority } from "../support/certificates.ts";
import { emptyMachine } from "../support/operator-machine.ts";
import { program } from "../support/program.ts";
import { until } from "../support/until.ts";

if (process.getuid?.() !== 0)
  process.stderr.write("NOT TESTED as another user of the machine: the tests do not run as root\n");

const FILE = {
  version: 1,
  workspaces: [
    {
      name: "ada",
      endpoints: [
        { name: "Contact", schema: { email: { type: "string", format: "email", required: true } } },
        { name: "News", schema: { email: { type: "string" } } },
        { name: "Jobs", schema: { name: { type: "string" } } },
      ],
    },
  ],
};

const SCOPES = ["endpoints:write", "submissions:read", "recipients:write", "workspace:read"];

/** Port of a server that listens on loopback until the test ends. */
async function listen(server: ReturnType<typeof createHttpServer>): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

/** A reverse proxy with https, as it stands before a server; it is told later which one. */
async function proxyWithTls(authority: Authority) {
  const behind = { url: "" };
  const server = createTlsServer(authority.issue("IP:127.0.0.1"), (asked, reply) => {
    const headers = { ...asked.headers, "x-forwarded-proto": "https" };
    const onward = requestHttp(`${behind.url}${asked.url}`, { method: asked.method, headers });
    onward.on("response", (answer) => {
      reply.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(reply);
    });
    onward.on("error", () => reply.destroy());
    reply.on("close", () => onward.destroy());
    asked.pipe(onward);
  });
  return { behind, origin: `https://127.0.0.1:${await listen(server)}` };
}

interface Said {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly text: string;
}

type AskTls = (method: string, path: string, headers: Record<string, string>, body?: string) => Promise<Said>;

function askOver(origin: string, ca: string): AskTls {
  return (method, path, headers, body = "") =>
    new Promise((resolve, reject) => {
      const sent = requestTls(`${origin}${path}`, { method, headers, ca, agent: false }, (answer) => {
        let text = "";
        answer.setEncoding("utf8").on("data", (part: string) => (text += part));
        answer.on("end", () => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text }));
      });
      sent.on("error", reject);
      sent.end(body);
    });
}

test("from a clean folder: a login of another user over TLS, forms as code, a post that is followed, a webhook changed by ETag, an agent, and the end of the token", async () => {
  const authority = createAuthority();
  onTestFinished(() => authority.remove());
  const { behind, origin } = await proxyWithTls(authority);
  const received: string[] = [];
  const receiver = createHttpServer((asked, reply) => {
    received.push(asked.headers["webhook-id"] as string);
    asked.resume().on("end", () => reply.end());
  });
  const hook = `http://127.0.0.1:${await listen(receiver)}/hook`;

  const machine = emptyMachine();
  machine.configure({
    server: { baseUrl: origin, trustProxy: ["127.0.0.1"] },
    webhooks: { allowNetworks: ["127.0.0.1"] },
    mcp: { enabled: true },
  });
  const server = await machine.serve();
  behind.url = server.url;
  const ask = askOver(origin, authority.cert);

  // Ada sets her password by the link that the machine printed.
  const link = await machine.json<{ url: string }>(["account", "sign-in-link", "ada@example.com"]);
  const [page = "", token = ""] = link.url.split("#");
  expect(page).toBe(`${origin}/dashboard/sign-in`);
  const browser = { "content-type": "application/x-www-form-urlencoded", "sec-fetch-site": "same-origin" };
  const form = new URLSearchParams({ token, new_password: "correct horse battery" }).toString();
  const signedIn = await ask("POST", "/dashboard/sign-in/link", browser, form);
  const cookie = (signedIn.headers["set-cookie"] ?? []).map((each) => each.split(";")[0]).join("; ");
  expect(cookie).toContain("__Host-formsvc=");

  // Another user of the machine logs in from another folder; Ada approves the code that she sees.
  const away = emptyMachine();
  const env = {
    XDG_CONFIG_HOME: away.path("home"),
    NODE_EXTRA_CA_CERTS: away.write("ca.pem", authority.cert),
  };
  const other = { env, asNobody: true };
  const login = away.start(["login", origin, "--name", "build", "--json"], other);
  const said: string[] = [];
  createInterface({ input: login.stdout! }).on("line", (line) => said.push(line));
  await until(() => said.length > 0);
  const { user_code: code } = JSON.parse(said[0] ?? "") as { user_code: string };
  const approval = new URLSearchParams([
    ["code", code],
    ...SCOPES.map((scope) => ["scopes", scope]),
  ]).toString();
  const approved = await ask("POST", "/dashboard/login/approve", { ...browser, cookie }, approval);
  expect([approved.status, approved.text]).toEqual([200, expect.stringContaining("Go back to the terminal")]);
  await until(() => said.length > 1);

  // Three forms as code, and a second time nothing.
  away.write("forms.json", FILE);
  const applied = await away.mustRun(["apply", "forms.json", "--env"], other);
  const [, key = ""] = /^FORM_CONTACT_SECRET_KEY=(\S+)$/m.exec(applied.stdout) ?? [];
  expect(applied.stdout.match(/SECRET_KEY=fsk_/g)).toHaveLength(3);
  expect((await away.mustRun(["apply", "forms.json"], other)).stderr).toContain("nothing to change");
  const hooked = ["webhook", "create", "--endpoint", "Contact", "--url", hook];
  const { webhook } = await away.json<{ webhook: { id: string } }>(hooked, other);

  // A post arrives at who follows, and at the receiver.
  const tail = away.start(["submission", "tail", "--follow", "--json"], other);
  const followed: string[] = [];
  createInterface({ input: tail.stdout! }).on("line", (line) => followed.push(line));
  const keyed = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const posted = await ask("POST", "/submit", keyed, JSON.stringify({ email: "visitor@example.com" }));
  expect(posted.status).toBe(200);
  await until(() => followed.length > 0 && received.length > 0);
  expect(JSON.parse(followed[0] ?? "")).toMatchObject({ data: { email: "visitor@example.com" } });
  tail.kill();

  // The webhook is changed with a stale ETag, which changes nothing, and with a fresh one.
  const contexts = readFileSync(away.path("home/formsvc/contexts.json"), "utf8");
  const [, secret = ""] = /"token": "(fat_\w+)"/.exec(contexts) ?? [];
  const api = { authorization: `Bearer ${secret}`, "content-type": "application/json" };
  const at = `/api/v1/webhooks/${webhook.id}`;
  const stale = (await ask("GET", at, api)).headers.etag ?? "";
  await away.mustRun(["webhook", "set", webhook.id, "--max-spam-score", "50"], other);
  const change = (tag: string) =>
    ask("PATCH", at, { ...api, "if-match": tag }, JSON.stringify({ max_spam_score: 25 }));
  const late = await change(stale);
  expect([late.status, JSON.parse(late.text)]).toMatchObject([412, { code: "precondition_failed" }]);
  const fresh = await ask("GET", at, api);
  expect(JSON.parse(fresh.text)).toMatchObject({ webhook: { max_spam_score: 50 } });
  const changed = await change(fresh.headers.etag ?? "");
  expect([changed.status, JSON.parse(changed.text)]).toMatchObject([
    200,
    { webhook: { max_spam_score: 25 } },
  ]);

  // An agent over HTTP, and one on standard input that goes through the API: they list, read, and may not write.
  const [command, ...words] = program;
  const client = newClient();
  const args = [...words, "mcp"];
  await client.connect(new StdioClientTransport({ command, args, env, cwd: away.folder, stderr: "pipe" }));
  onTestFinished(() => client.close());
  const agents = [await connectAgent(server.url, secret), agentOf(client)];
  for (const agent of agents) {
    expect((await agent.call("list_endpoints")).said["endpoints"]).toHaveLength(3);
    const found = await agent.call("search_submissions");
    expect(insideOf(found)).toMatchObject([{ content: { data: { email: "visitor@example.com" } } }]);
    const [{ id }] = found.said["submissions"] as [{ id: string }];
    await expect(agent.call("mark_submissions", { ids: [id], mark: "spam" })).rejects.toThrow(/not found/);
  }

  // The machine ends the token: nothing works with it any more.
  const { data: tokens } = await machine.json<{ data: { id: string; name: string }[] }>(["token", "list"]);
  expect(tokens.map(({ name }) => name)).toEqual(["build"]);
  await machine.mustRun(["token", "revoke", tokens[0]?.id ?? ""]);
  const refused = await away.run(["endpoint", "list"], other);
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining(`formsvc login ${origin}`)]);
  expect((await ask("GET", at, api)).status).toBe(401);
  expect((await agents[1]!.call("list_endpoints")).said["code"]).toBe("unauthorized");
  await expect(agents[0]!.call("list_endpoints")).rejects.toThrow(/unauthorized|401|token/i);
  const stoppedAt = performance.now();
  expect(await server.stop()).toBe(0);
  // Nothing is left of those who have gone, like the one that followed, for whom a sign of life was due after 25 seconds.
  expect(performance.now() - stoppedAt).toBeLessThan(10_000);
});
