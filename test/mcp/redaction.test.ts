import { expect, test } from "vitest";
import { newId } from "../../src/foundation/id.ts";
import type { Scope } from "../../src/operations/access.ts";
import { addWebhooks } from "../support/add-webhooks.ts";
import { connectAgent, insideOf } from "../support/agent.ts";
import { makeToken } from "../support/api-client.ts";
import { goodPost, startServer, type TestServer } from "../support/test-server.ts";

/** A delivery whose receiver answered with what it was sent. */
async function repeatingReceiver(server: TestServer): Promise<string> {
  const { id: endpoint, secret } = await server.addEndpoint();
  await server.post(secret, goodPost);
  // After the post, so that nothing is sent.
  server.owner.now(() => addWebhooks(endpoint, "http://127.0.0.1:9", 1));
  const submission = server.owner.prepare("SELECT id FROM submission").pluck().get() as string;
  const webhook = server.owner.prepare("SELECT id FROM webhook").pluck().get() as string;
  const delivery = newId("msg", 1);
  server.owner.execute(`INSERT INTO delivery (id, submission_id, recipient_id, state, due_at, finished_at)
    VALUES ('${delivery}', '${submission}', '${webhook}', 'failed', 1, 2)`);
  server.owner.execute(`INSERT INTO attempt
    VALUES ('${delivery}', 1, 1, 2, 'failed', 500, 'answered 500', 'no room for ana@example.org from 192.0.2.7', 0)`);
  return delivery;
}

test("who may not read submissions sees no address in what receivers answered, and who may sees it", async () => {
  const server = await startServer({ mcp: { enabled: true } });
  const id = await repeatingReceiver(server);
  const answerTo = async (scopes: readonly Scope[]) => {
    const agent = await connectAgent(server.url, await makeToken(server, scopes));
    const answer = await agent.call("list_deliveries", { id });
    expect(JSON.stringify(answer.said)).not.toContain("no room");
    const [shown] = insideOf(answer);
    return JSON.stringify(shown?.content);
  };
  expect(await answerTo(["recipients:read"])).toContain('"no room for [e-mail address] from [IP address]"');
  expect(await answerTo(["recipients:read", "submissions:read"])).toContain(
    '"no room for ana@example.org from 192.0.2.7"',
  );
});

test("with mcp.redact no agent over HTTP is shown an address, a telephone number or where somebody posted from", async () => {
  const server = await startServer({ mcp: { enabled: true, redact: true } });
  const { secret } = await server.addEndpoint();
  const message = "Call +49 30 12345678 or write to ben@example.org";
  expect((await server.post(secret, { ...goodPost, message })).status).toBe(200);
  const token = await makeToken(server, ["submissions:read"]);
  const agent = await connectAgent(server.url, token);
  const found = await agent.call("search_submissions", { include_suspected: true });
  expect(insideOf(found)).toMatchObject([
    {
      content: {
        data: {
          email: "[e-mail address]",
          message: "Call [telephone number] or write to [e-mail address]",
        },
        ip_address: "[IP address]",
      },
    },
  ]);
  // Nor in what is ours of the answer.
  const [{ id } = { id: "" }] = insideOf(found);
  for (const answer of [found, await agent.call("get_submission", { id, include_suspected: true })])
    expect(JSON.stringify(answer)).not.toMatch(/127\.0\.0\.1|ana@example\.org|ben@example\.org|12345678/);
});
