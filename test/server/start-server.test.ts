import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { openMigrated } from "../../src/app/open-migrated.ts";
import { startServer as serve } from "../../src/server/start-server.ts";
import { COMMAND_BUSY_TIMEOUT_MS } from "../../src/database/sqlite/open-database.ts";
import { createLog } from "../../src/foundation/log.ts";
import { startServer } from "../support/test-server.ts";

const silent = createLog("silent", "json", () => ({ write: () => {} }));

test.each([
  ["a port that is taken", (port: number) => ({ port }), /the port is taken$/, "choose_free_port"],
  [
    "an address that the machine does not have",
    () => ({ host: "203.0.113.1" }),
    /does not have that address$/,
    "choose_own_address",
  ],
])("%s is refused with what to do about it", async (_, listener, message, kind) => {
  const server = await startServer();
  const config = { ...server.config, server: { ...server.config.server, port: 0, ...listener(server.port) } };
  await expect(serve({ db: server.owner, config, clock: server.clock, log: silent })).rejects.toMatchObject({
    code: "failed",
    message: expect.stringMatching(message) as string,
    facts: { hint: { kind, listener: "server" } },
  });
});

test("a server on an IPv6 address names it in brackets", async () => {
  const server = await startServer();
  const config = { ...server.config, server: { ...server.config.server, host: "::1" } };
  const other = await serve({ db: server.owner, config, clock: server.clock, log: silent }).catch(
    (error: Error) => error,
  );
  // A machine may have no IPv6 at all; then there is nothing to name.
  if (other instanceof Error) expect(other.message).toMatch(/does not have that address|EAFNOSUPPORT/);
  else {
    expect(other.url).toMatch(/^http:\/\/\[::1\]:\d+$/);
    await other.stop();
  }
});

test("a start waits as a command does while another process holds the write lock; once it listens, nothing waits", async () => {
  const server = await startServer();
  const config = { ...server.config, server: { ...server.config.server, port: 0 } };
  const { db } = openMigrated(config, COMMAND_BUSY_TIMEOUT_MS);
  const holder = fork(fileURLToPath(new URL("../support/hold-lock.ts", import.meta.url)), [db.path, "400"]);
  await once(holder, "message");
  const other = await serve({ db, config, clock: server.clock, log: silent });
  expect(db.pragma("busy_timeout")).toBe(10);
  expect((await fetch(`${other.url}/readyz`)).status).toBe(200);
  await other.stop();
  db.close();
});

test("a start that fails after it listened leaves nothing behind that listens", async () => {
  const server = await startServer();
  const config = { ...server.config, server: { ...server.config.server, port: 0 } };
  let url = "";
  const write = (line: string): void => {
    const { event, url: told } = JSON.parse(line) as { event: string; url?: string };
    if (event !== "server.listening") return;
    url = told ?? "";
    throw new Error("no room for this line");
  };
  const log = createLog("info", "json", () => ({ write }));
  await expect(serve({ db: server.owner, config, clock: server.clock, log })).rejects.toThrow(
    "no room for this line",
  );
  await expect(fetch(`${url}/healthz`)).rejects.toMatchObject({ cause: { code: "ECONNREFUSED" } });
});
