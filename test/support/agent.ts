import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { onTestFinished } from "vitest";

/** The answer of a tool: `said` is the part that our server wrote, and `untrusted` is the part that strangers wrote, as it is shown. */
export interface ToolAnswer {
  readonly isError: boolean;
  readonly said: Record<string, unknown>;
  /** Empty if the answer contains nothing from strangers. */
  readonly untrusted: string;
}

export interface Agent {
  readonly client: Client;
  tools(): Promise<string[]>;
  call(name: string, input?: Record<string, unknown>): Promise<ToolAnswer>;
}

/** Connects the official client until the end of the test. @param isOld whether the client speaks the protocol version of 2025 */
export async function connectAgent(url: string, token: string, isOld = false): Promise<Agent> {
  const client = newClient(isOld);
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${url}/mcp`), {
      requestInit: { headers: { authorization: `Bearer ${token}` } },
    }),
  );
  onTestFinished(() => client.close());
  return agentOf(client);
}

export function newClient(isOld = false): Client {
  const mode = isOld ? "legacy" : { pin: "2026-07-28" };
  return new Client({ name: "test", version: "1" }, { versionNegotiation: { mode } });
}

export function agentOf(client: Client): Agent {
  return {
    client,
    tools: async () => (await client.listTools()).tools.map(({ name }) => name),
    async call(name, input = {}) {
      const answer = await client.callTool({ name, arguments: input });
      const texts = (answer.content as { text: string }[]).map(({ text }) => text);
      const [said = "", untrusted = ""] = texts;
      return {
        isError: answer.isError === true,
        said: JSON.parse(said) as Record<string, unknown>,
        untrusted,
      };
    },
  };
}

/** Reads what stands inside the boundary of an answer, and throws if there is no boundary. */
export function insideOf({ untrusted }: ToolAnswer): { readonly id: string; readonly content: unknown }[] {
  const [, name = "", json = "", end = ""] = untrusted.split("\n");
  if (name !== end || !/^untrusted-[\da-f]{24}$/.test(name)) throw new Error(`no boundary: ${untrusted}`);
  return (JSON.parse(json) as { untrusted: { id: string; content: unknown }[] }).untrusted;
}
