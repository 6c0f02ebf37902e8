import { execFile } from "node:child_process";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { makeToken } from "../support/api-client.ts";
import { makeFolder } from "../support/temporary-folder.ts";
import { startServer } from "../support/test-server.ts";

const tool = fileURLToPath(
  new URL("../../node_modules/@modelcontextprotocol/conformance/dist/index.js", import.meta.url),
);

/** The scenarios that need no tools, resources or prompts of the protocol's own example server. */
const SCENARIOS = ["server-initialize", "ping", "tools-list", "dns-rebinding-protection"];

test.each(SCENARIOS)("the protocol's own conformance tool passes %s", async (scenario) => {
  const server = await startServer({ mcp: { enabled: true } });
  await server.addEndpoint();
  const url = await withToken(server.url, await makeToken(server));
  const folder = makeFolder();
  onTestFinished(() => folder.remove());
  const args = [tool, "server", "--url", `${url}/mcp`, "--scenario", scenario];
  const ran = await new Promise<{ code: unknown; out: string }>((resolve) => {
    execFile(process.execPath, args, { cwd: folder.path }, (error, stdout, stderr) =>
      resolve({ code: error?.code ?? 0, out: stdout + stderr }),
    );
  });
  expect(ran.code, ran.out).toBe(0);
  expect(ran.out).toMatch(/Passed: [1-9]\d*\/\d+, 0 failed/);
});

/** The tool sends no token: this adds it, and changes nothing else. */
async function withToken(target: string, token: string): Promise<string> {
  const { hostname, port } = new URL(target);
  const proxy = createServer((asked, answer) => {
    const headers = { ...asked.headers, authorization: `Bearer ${token}` };
    const sent = request({ hostname, port, path: asked.url, method: asked.method, headers }, (got) => {
      answer.writeHead(got.statusCode ?? 502, got.headers);
      got.pipe(answer);
    });
    sent.on("error", () => answer.destroy());
    asked.pipe(sent);
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    proxy.closeAllConnections();
    proxy.close();
  });
  return `http://localhost:${(proxy.address() as AddressInfo).port}`;
}
