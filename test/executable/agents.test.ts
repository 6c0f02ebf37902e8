import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { expect, onTestFinished, test } from "vitest";
import { agentOf, connectAgent, insideOf, newClient } from "../support/agent.ts";
import { operatorMachine } from "../support/operator-machine.ts";
import { program } from "../support/program.ts";

test("the executable serves an agent on standard input and output, and over HTTP with a token that is then revoked", async () => {
  const machine = operatorMachine({ mcp: { enabled: true, allow: [] } });
  const contact = await machine.createEndpoint({ schema: { name: { type: "string" } } });
  const server = await machine.serve();
  const posted = await fetch(`${server.url}/submit`, {
    method: "POST",
    headers: { authorization: `Bearer ${contact.secret}`, "content-type": "application/json" },
    body: JSON.stringify({ name: "Ada" }),
  });
  expect(posted.status).toBe(200);
  const [command, ...words] = program;
  const client = newClient();
  await client.connect(
    new StdioClientTransport({ command, args: [...words, "mcp"], cwd: machine.folder, stderr: "pipe" }),
  );
  onTestFinished(() => client.close());
  const beside = await agentOf(client).call("search_submissions");
  expect(insideOf(beside)).toMatchObject([{ content: { data: { name: "Ada" } } }]);
  const { token, secret } = await machine.json<{ token: { id: string }; secret: string }>([
    "token",
    "create",
    "--name",
    "agent",
  ]);
  const agent = await connectAgent(server.url, secret);
  expect(insideOf(await agent.call("search_submissions"))).toEqual(insideOf(beside));
  await expect(agent.call("mark_submissions", { ids: ["sub_1"], mark: "spam" })).rejects.toThrow(/not found/);
  await machine.mustRun(["token", "revoke", token.id]);
  await expect(agent.call("list_endpoints")).rejects.toThrow(/unauthorized|401|token/i);
});
