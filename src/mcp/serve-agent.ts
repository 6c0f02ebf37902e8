import { PassThrough } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import { serveStdio, StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import { type AgentAccess, createMcpServer } from "./mcp-server.ts";

/**
 * Serves one agent on standard input and output until it is closed. What was asked before is answered first.
 *
 * @param onUnread called with the reason if what the client sent is no message, or too long to be read
 */
export function serveAgent(
  access: AgentAccess,
  onUnread: (reason: string) => void,
): { close(): Promise<void> } {
  const calls = new Set<Promise<unknown>>();
  const call: AgentAccess["call"] = async (operation, input) => {
    const made = access.call(operation, input);
    calls.add(made);
    try {
      return await made;
    } finally {
      calls.delete(made);
    }
  };
  // The transport drops all answers when its input ends, so it does not see the end of standard input.
  const input = process.stdin.pipe(new PassThrough(), { end: false });
  const served = serveStdio(() => createMcpServer({ ...access, call }), {
    maxSubscriptions: 0,
    onerror: ({ name, message }) =>
      onUnread(name === "ZodError" ? "it is no message of the protocol" : message),
    transport: new StdioServerTransport(input),
  });
  return {
    async close() {
      // A tool begins its next call, or answers, in the turn after the call before, so a turn is waited for after the last call has ended.
      do {
        await Promise.allSettled(calls);
        await nextTurn();
      } while (calls.size > 0);
      await nextTurn();
      await served.close();
    },
  };
}
