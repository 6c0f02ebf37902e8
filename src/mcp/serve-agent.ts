import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { type AgentAccess, createMcpServer } from "./mcp-server.ts";

/** Serves one agent on standard input and output until it is closed. */
export function serveAgent(access: AgentAccess): { close(): Promise<void> } {
  return serveStdio(() => createMcpServer(access), { maxSubscriptions: 0 });
}
