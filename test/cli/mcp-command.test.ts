import { spawnSync } from "node:child_process";
import { closeSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { expect, onTestFinished, test } from "vitest";
import { agentOf, type Agent, insideOf, newClient } from "../support/agent.ts";
import { makeToken } from "../support/api-client.ts";
import { emptyMachine, operatorMachine, type OperatorMachine } from "../support/operator-machine.ts";
import { compileCache, programFor } from "../support/program.ts";
import { goodPost, startServer } from "../support/test-server.ts";

/** The program on standard input and output, as an agent's program starts it. */
async function startAgent(machine: OperatorMachine, ...flags: string[]): Promise<Agent> {
  return startAgentWith({}, machine, ...flags);
}

async function startAgentWith(
  env: Record<string, string>,
  machine: OperatorMachine,
  ...flags: string[]
): Promise<Agent> {
  const [command = "", ...words] = programFor(["mcp"]);
  const client = newClient();
  const args = [...words, "mcp", ...flags];
  const started = {
    command,
    args,
    env: { ...compileCache(), ...env },
    cwd: machine.folder,
    stderr: "pipe",
  } as const;
  await client.connect(new StdioClientTransport(started));
  onTestFinished(() => client.close());
  return agentOf(client);
}

async function postTo(url: string, key: string, body: object): Promise<void> {
  const answer = await fetch(`${url}/submit`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  expect(answer.status).toBe(200);
}

const schema = { name: { type: "string" }, phone: { type: "string" } };

test("an agent on standard input reads one form alone, redacted, and its calls are noted with the user", async () => {
  const machine = operatorMachine();
  const contact = await machine.createEndpoint({ name: "Contact", schema });
  const other = await machine.createEndpoint({ name: "Other", schema });
  const server = await machine.serveHere();
  await postTo(server.url, contact.secret, { name: "Ada", phone: "+49 30 12345678" });
  await postTo(server.url, other.secret, { name: "Ben", phone: "1" });
  const agent = await startAgent(machine, "--endpoint", "Contact", "--redact");
  expect(await agent.tools()).not.toContain("mark_submissions");
  const found = await agent.call("search_submissions");
  expect(insideOf(found)).toMatchObject([
    { content: { data: { name: "Ada", phone: "[telephone number]" }, ip_address: "[IP address]" } },
  ]);
  expect((await agent.call("list_endpoints")).said).toMatchObject({ endpoints: [{ id: contact.id }] });
  expect((await agent.call("get_endpoint", { endpoint: other.id })).said["code"]).toBe("not_found");
  expect((await agent.call("get_findings")).said).toHaveProperty("healthy");
  const noted = machine
    .open()
    .prepare(
      "SELECT detail, terminal_user IS NOT NULL AS named FROM audit_event WHERE action = 'mcp.called' ORDER BY id",
    );
  expect(noted.all()).toEqual([
    { detail: "search_submissions", named: 1 },
    { detail: "list_endpoints", named: 1 },
    { detail: "get_endpoint", named: 1 },
    { detail: "get_findings", named: 1 },
  ]);
});

test("at a distance it serves the same tools through the API: one form alone, redacted, each call noted with the token", async () => {
  const server = await startServer();
  const contact = await server.addEndpoint();
  const other = await server.addEndpoint({ plan: "pro" });
  for (const { secret } of [contact, other]) expect((await server.post(secret, goodPost)).status).toBe(200);
  const scopes = ["submissions:write", "endpoints:read", "recipients:read"] as const;
  const away = emptyMachine();
  const env = { FORMSVC_SERVER: server.url, FORMSVC_TOKEN: await makeToken(server, scopes) };
  const agent = await startAgentWith(
    env,
    away,
    "--endpoint",
    contact.id,
    "--redact",
    "--allow",
    "triage,replay",
  );
  const names = await agent.tools();
  expect(names).toContain("mark_submissions");
  for (const absent of ["get_findings", "get_usage", "replay_delivery"]) expect(names).not.toContain(absent);
  const found = await agent.call("search_submissions", { search: "Sunday" });
  const [submission] = found.said["submissions"] as [{ id: string; endpoint_id: string }];
  expect(submission.endpoint_id).toBe(contact.id);
  expect(insideOf(found)).toMatchObject([
    { content: { data: { email: "[e-mail address]" }, ip_address: "[IP address]" } },
  ]);
  expect((await agent.call("list_endpoints")).said).toMatchObject({ endpoints: [{ id: contact.id }] });
  const theirs = server.stored().find(({ endpointId }) => endpointId === other.id)?.id ?? "";
  for (const [name, input] of [
    ["get_endpoint", { endpoint: other.id }],
    ["get_submission", { id: theirs }],
    ["mark_submissions", { ids: [theirs], mark: "spam" }],
  ] as const)
    expect((await agent.call(name, input)).said["code"], name).toBe("not_found");
  const ids = [submission.id];
  expect((await agent.call("mark_submissions", { ids, mark: "ham" })).said).toEqual({
    marked: ids,
    mark: "ham",
  });
  const noted = server.owner.prepare(
    "SELECT detail, token_name FROM audit_event WHERE action = 'mcp.called' ORDER BY id",
  );
  expect(noted.all()).toEqual([
    { detail: "search_submissions", token_name: "test" },
    { detail: "list_endpoints", token_name: "test" },
    { detail: "get_endpoint", token_name: "test" },
    { detail: "get_submission", token_name: "test" },
    { detail: "mark_submissions (2 calls)", token_name: "test" },
  ]);
  server.owner.execute(`UPDATE api_token SET revoked_at = ${server.clock.now()}`);
  expect((await agent.call("list_endpoints")).said["code"]).toBe("unauthorized");
});

test("the setup of the page about agents works as it stands", async () => {
  const page = readFileSync(new URL("../../docs/agents.md", import.meta.url), "utf8");
  const [, json = ""] = /^```json\n(\{\n {2}"mcpServers"[^]*?)^```$/m.exec(page) ?? [];
  const { mcpServers } = JSON.parse(json) as { mcpServers: { formsvc: { command: string; args: string[] } } };
  const { command, args } = mcpServers.formsvc;
  expect([command, args[0]]).toEqual(["formsvc", "mcp"]);
  const machine = operatorMachine();
  const contact = await machine.createEndpoint({ schema });
  const own = args
    .slice(1)
    .map((each) => (each.startsWith("/etc/") ? machine.path("formsvc.config.json") : each));
  const agent = await startAgent(machine, ...own);
  expect((await agent.call("list_endpoints")).said).toMatchObject({ endpoints: [{ id: contact.id }] });
});

test("with --allow it may mark, in the workspace that it is given", async () => {
  const machine = operatorMachine();
  const contact = await machine.createEndpoint({ schema });
  const server = await machine.serveHere();
  await postTo(server.url, contact.secret, { name: "Ada" });
  const agent = await startAgent(machine, "--workspace", "owner", "--allow", "triage,replay");
  expect((await agent.tools()).slice(-3)).toEqual(["mark_submissions", "release_held", "replay_delivery"]);
  const { submissions } = (await agent.call("search_submissions")).said as { submissions: { id: string }[] };
  const ids = submissions.map(({ id }) => id);
  expect((await agent.call("mark_submissions", { ids, mark: "ham" })).said).toEqual({
    marked: ids,
    mark: "ham",
  });
});

test.each([
  [["--endpoint", "Nowhere"], 3, /there is no endpoint Nowhere/],
  [["--workspace", "Nowhere"], 3, /there is no workspace/],
  [["--workspace", "owner", "--endpoint", "Contact"], 2, /not both/],
  [["--server", "http://127.0.0.1:9"], 1, /nobody logged in to http:\/\/127\.0\.0\.1:9/],
  [["--allow", "everything"], 2, /there are no tools named "everything"; choose from triage, replay/],
])("mcp %j is refused with what is wrong", async (flags, code, message) => {
  const machine = operatorMachine();
  await machine.createEndpoint();
  const ran = await machine.run(["mcp", ...flags]);
  expect([ran.code, ran.stdout]).toEqual([code, ""]);
  expect(ran.stderr).toMatch(message);
});

test.each(["list_endpoints", "get_endpoint"])(
  "a call of %s that a server at a distance answers after standard input ended is answered, also if it is refused",
  async (name) => {
    const server = await startServer();
    const env = { FORMSVC_SERVER: server.url, FORMSVC_TOKEN: await makeToken(server, ["endpoints:read"]) };
    const clientInfo = { name: "pipe", version: "1" };
    const begin = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo };
    const asked = [
      { jsonrpc: "2.0", id: 1, method: "initialize", params: begin },
      { jsonrpc: "2.0", method: "notifications/initialized" },
      { jsonrpc: "2.0", id: 2, method: "tools/call", params: { name, arguments: argumentsOf(name) } },
    ];
    const input = asked.map((each) => `${JSON.stringify(each)}\n`).join("");
    const ran = await emptyMachine().run(["mcp"], { env, input });
    const ids = ran.stdout
      .trim()
      .split("\n")
      .map((line) => (JSON.parse(line) as { id: number }).id);
    expect([ran.code, ran.stderr, ids]).toEqual([0, "", [1, 2]]);
  },
);

function argumentsOf(tool: string): object {
  return tool === "get_endpoint" ? { endpoint: "nothing" } : {};
}

test("it ends when its standard input ends", async () => {
  const machine = operatorMachine();
  await machine.createEndpoint();
  const ran = await machine.run(["mcp"]);
  expect([ran.code, ran.stdout, ran.stderr]).toEqual([0, "", ""]);
});

/** The program with a file as its standard input. */
function runFrom(machine: OperatorMachine, input: string) {
  const [command = "", ...words] = programFor(["mcp"]);
  writeFileSync(machine.path("asked"), input);
  const asked = openSync(machine.path("asked"), "r");
  const { status, stdout, stderr } = spawnSync(command, [...words, "mcp"], {
    cwd: machine.folder,
    env: { ...process.env, ...compileCache() },
    stdio: [asked, "pipe", "pipe"],
    encoding: "utf8",
  });
  closeSync(asked);
  return { code: status, stdout, stderr };
}

test.each(["a pipe", "a file"])(
  "what was asked before its standard input, %s, ended is answered",
  async (kind) => {
    const machine = operatorMachine();
    await machine.createEndpoint();
    const clientInfo = { name: "pipe", version: "1" };
    const begin = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo };
    const call = (id: number, name: string) => ({
      jsonrpc: "2.0",
      id,
      method: "tools/call",
      params: { name, arguments: {} },
    });
    const asked = [
      { jsonrpc: "2.0", id: 1, method: "initialize", params: begin },
      { jsonrpc: "2.0", method: "notifications/initialized" },
      ...["search_submissions", "list_endpoints", "list_held", "get_usage"].map((name, at) =>
        call(at + 2, name),
      ),
    ];
    const input = asked.map((each) => `${JSON.stringify(each)}\n`).join("");
    const ran = kind === "a pipe" ? await machine.run(["mcp"], { input }) : runFrom(machine, input);
    expect([ran.code, ran.stderr]).toEqual([0, ""]);
    const answers = ran.stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { id: number; result?: { isError?: true } });
    expect(new Set(answers.map(({ id }) => id))).toEqual(new Set([1, 2, 3, 4, 5]));
    expect(answers.filter(({ result }) => result?.isError === true)).toEqual([]);
  },
);

test("what is no message is told on standard error, and the next message is answered", async () => {
  const machine = operatorMachine();
  await machine.createEndpoint();
  const ping = { jsonrpc: "2.0", id: 1, method: "ping" };
  const ran = await machine.run(["mcp"], { input: `[1]\n${JSON.stringify(ping)}\n` });
  expect([ran.code, ran.stderr]).toEqual([
    0,
    "formsvc: what the client sent could not be read: it is no message of the protocol\n",
  ]);
  expect(ran.stdout).toContain('"id":1');
});

test("a line that is too long ends it with a sentence", async () => {
  const machine = operatorMachine();
  await machine.createEndpoint();
  const ran = await machine.run(["mcp"], { input: "x".repeat(11 * 1_048_576) });
  expect([ran.code, ran.stdout]).toEqual([1, ""]);
  expect(ran.stderr).toMatch(/^formsvc: what the client sent could not be read: .*maximum size/);
});
