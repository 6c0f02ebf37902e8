import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { onTestFinished } from "vitest";

/** What a tool answered: our part as JSON, and the part of strangers as it is shown. */
export interface ToolAnswer {
  readonly isError: boolean;
  readonly said: Record<string, unknown>;
  /** Empty if it shows nothing of strangers. */
  readonly untrusted: string;
}

export interface Agent {
  readonly client: Client;
  tools(): Promise<string[]>;
  call(name: string, input?: Record<string, unknown>): Promise<ToolAnswer>;
}

/** The official client, connected until the end of the test. @param isOld whether it speaks the protocol of 2025 */
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
      return { isError: answer.isError === true, said: readSaid(said), untrusted };
    },
  };
}

/** The SDK itself refuses arguments in a sentence. */
function readSaid(text: string): Record<string, unknown> {
  return text.startsWith("{") ? (JSON.parse(text) as Record<string, unknown>) : { message: text };
}

/** What stands in the boundary of an answer. */
export function insideOf({ untrusted }: ToolAnswer): { readonly id: string; readonly content: unknown }[] {
  const [, name = "", json = "", end = ""] = untrusted.split("\n");
  if (name !== end || !/^untrusted-[\da-f]{24}$/.test(name)) throw new Error(`no boundary: ${untrusted}`);
  return (JSON.parse(json) as { untrusted: { id: string; content: unknown }[] }).untrusted;
}
