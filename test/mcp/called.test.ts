import { expect, test } from "vitest";
import { TOOLS } from "../../src/mcp/tools.ts";
import { noteCall, TOOL_NAMES } from "../../src/tokens/agent-calls.ts";
import { askWith, makeToken } from "../support/api-client.ts";
import { connectAgent } from "../support/agent.ts";
import { performOn } from "../support/terminal.ts";
import { startServer, type TestServer } from "../support/test-server.ts";

const calls = ({ owner }: TestServer): unknown[] =>
  owner
    .prepare("SELECT detail, subject, token_name FROM audit_event WHERE action = 'mcp.called' ORDER BY id")
    .all();

/** The beginning of the next minute. */
const nextMinute = ({ clock }: TestServer): void => clock.advance(60_000 - (clock.now() % 60_000));

test("every tool has a name that calls are noted with, and there is no other name", () => {
  expect(TOOLS.map(({ name }) => name).toSorted()).toEqual([...TOOL_NAMES].toSorted());
});

test("calls of one tool in a minute are one entry with their number, and those of another minute, tool or token are others", async () => {
  const server = await startServer({ mcp: { enabled: true } });
  const { id } = await server.addEndpoint();
  const agent = await connectAgent(server.url, await makeToken(server));
  const other = await connectAgent(server.url, await makeToken(server));
  nextMinute(server);
  for (let call = 0; call < 3; call += 1) await agent.call("get_endpoint", { endpoint: id });
  await agent.call("get_usage");
  await other.call("get_endpoint", { endpoint: id });
  server.clock.advance(59_999);
  await agent.call("get_endpoint", { endpoint: id });
  server.clock.advance(1);
  await agent.call("get_endpoint", { endpoint: id });
  expect(calls(server)).toMatchObject([
    { detail: "get_endpoint (4 calls)", subject: id },
    { detail: "get_usage" },
    { detail: "get_endpoint", subject: id },
    { detail: "get_endpoint", subject: id },
  ]);
});

test("a call that is refused is noted too, with its tool and without what it asked for", async () => {
  const server = await startServer({ mcp: { enabled: true } });
  await server.addEndpoint();
  const agent = await connectAgent(server.url, await makeToken(server));
  nextMinute(server);
  for (const id of ["sub_1", "sub_2"])
    expect((await agent.call("get_submission", { id })).isError).toBe(true);
  expect(calls(server)).toEqual([{ detail: "get_submission (2 calls)", subject: "", token_name: "test" }]);
});

test("a call with wrong arguments is noted too, and its answer does not repeat them without bound", async () => {
  const server = await startServer({ mcp: { enabled: true } });
  const agent = await connectAgent(server.url, await makeToken(server));
  nextMinute(server);
  const long = "x".repeat(50_000);
  const many = Object.fromEntries(Array.from({ length: 3000 }, (_, index) => [`name${index}`, 1]));
  const answers = [
    await agent.call("list_endpoints", { [long]: 1, endpoint: long }),
    await agent.call("list_endpoints", many),
    await agent.call("list_endpoints", { workspace: 1 }),
  ];
  for (const { isError, said } of answers) {
    expect([isError, said["code"]]).toEqual([true, "invalid_request"]);
    expect(JSON.stringify(said).length).toBeLessThan(700);
  }
  expect(answers.map(({ said }) => said["message"])).toEqual([
    expect.stringContaining('there is no argument "xxx'),
    expect.stringContaining('there is no argument "name0"; there is no argument "name1"'),
    "workspace: Invalid input: expected string, received number",
  ]);
  expect(calls(server)).toMatchObject([{ detail: "list_endpoints (3 calls)", subject: "" }]);
});

test("a list that is read whole takes no cursor that no page returned", async () => {
  const server = await startServer({ mcp: { enabled: true } });
  const { id } = await server.addEndpoint();
  const agent = await connectAgent(server.url, await makeToken(server));
  for (const name of ["list_endpoints", "list_webhooks"])
    for (const cursor of ["a", "ep_", "wh_", id.replace("ep_", "sub_")])
      expect((await agent.call(name, { cursor })).said["code"], cursor).toBe("invalid_request");
  expect((await agent.call("list_endpoints", { cursor: id })).said["endpoints"]).toEqual([]);
});

test("an entry names whole ids, each once, as far as there is room", async () => {
  const server = await startServer();
  await server.addEndpoint();
  const ids = Array.from({ length: 50 }, (_, index) => `sub_${String(index).padStart(26, "0")}`);
  const now = server.clock.now();
  for (const some of [ids.slice(0, 2), ids.slice(1, 3), ids])
    await performOn(server.owner, noteCall, { tool: "mark_submissions", ids: some }, { now });
  const [call] = calls(server) as [{ subject: string; detail: string }];
  expect(call.detail).toBe("mark_submissions (3 calls)");
  expect(call.subject.split(" ")).toEqual(ids.slice(0, 16));
});

test("a program that serves an agent notes its calls with its token, and nothing but calls of tools", async () => {
  const server = await startServer();
  const { id } = await server.addEndpoint();
  const ask = askWith(server, await makeToken(server, ["endpoints:read"]));
  const note = (body: object) => ask("POST", "/agent-calls", { body });
  expect((await note({ tool: "get_endpoint", ids: [id], endpoint: id })).status).toBe(200);
  for (const wrong of [
    { tool: "create_webhook", ids: [] },
    { tool: "get_endpoint", ids: Array(51).fill(id) },
    { tool: "get_endpoint", ids: ["x".repeat(101)] },
    { tool: "get_endpoint" },
    { tool: "get_endpoint", ids: [], actor: "somebody else" },
  ]) {
    const refused = await note(wrong);
    expect([refused.status, refused.json["code"]]).toEqual([400, "invalid_request"]);
  }
  expect(calls(server)).toEqual([{ detail: "get_endpoint", subject: id, token_name: "test" }]);
});
