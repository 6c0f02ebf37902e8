import { expect, test } from "vitest";
import { startServer as serve } from "../../src/cli/start-server.ts";
import { createLog } from "../../src/foundation/log.ts";
import { startServer } from "../support/test-server.ts";

const silent = createLog("silent", "json", () => ({ write: () => {} }));

test.each([
  ["a port that is taken", (port: number) => ({ port }), /the port is taken; .*--port/],
  [
    "an address that the machine does not have",
    () => ({ host: "203.0.113.1" }),
    /does not have that address; .*--host/,
  ],
])("%s is refused with what to do about it", async (_, listener, message) => {
  const server = await startServer();
  const config = { ...server.config, server: { ...server.config.server, port: 0, ...listener(server.port) } };
  await expect(serve(server.owner, config, server.clock, silent)).rejects.toMatchObject({
    code: "failed",
    message: expect.stringMatching(message) as string,
  });
});

test("a server on an IPv6 address names it in brackets", async () => {
  const server = await startServer();
  const config = { ...server.config, server: { ...server.config.server, host: "::1" } };
  const other = await serve(server.owner, config, server.clock, silent).catch((error: Error) => error);
  // A machine may have no IPv6 at all; then there is nothing to name.
  if (other instanceof Error) expect(other.message).toMatch(/does not have that address|EAFNOSUPPORT/);
  else {
    expect(other.url).toMatch(/^http:\/\/\[::1\]:\d+$/);
    await other.stop();
  }
});
