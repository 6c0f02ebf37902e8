import { fork } from "node:child_process";
import { createServer, type AddressInfo } from "node:net";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { openMigrated } from "../../src/app/open-migrated.ts";
import { startServer as serve } from "../../src/server/start-server.ts";
import { type Config, defaultConfig } from "../../src/config/config.ts";
import { COMMAND_BUSY_TIMEOUT_MS } from "../../src/database/sqlite/open-database.ts";
import { openPostgresql } from "../../src/database/postgresql/open-postgresql.ts";
import { createLog } from "../../src/foundation/log.ts";
import { connectPlainly } from "../support/postgresql-cluster.ts";
import { hasPostgresql, temporaryAddress } from "../support/temporary-postgresql.ts";
import { startServer } from "../support/test-server.ts";
import { until } from "../support/until.ts";

const silent = createLog("silent", { write: () => {} });

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

test("a server that is asked to stop again stops once, and both wait for the same end", async () => {
  const server = await startServer();
  const config = { ...server.config, server: { ...server.config.server, port: 0 } };
  const other = await serve({ db: server.owner, config, clock: server.clock, log: silent });
  const stopped = other.stop();
  expect(other.stop()).toBe(stopped);
  await stopped;
  expect(other.stop()).toBe(stopped);
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
  const log = createLog("info", { write });
  await expect(serve({ db: server.owner, config, clock: server.clock, log })).rejects.toThrow(
    "no room for this line",
  );
  await expect(fetch(`${url}/healthz`)).rejects.toMatchObject({ cause: { code: "ECONNREFUSED" } });
});

/** A port of this machine that somebody listens on until the test ends. */
async function takenPort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

const NO_NETWORK = ["no network"];

describe.skipIf(!hasPostgresql)(
  "a start on PostgreSQL that fails leaves no server that others wait for",
  () => {
    const faults: readonly (readonly [string, (config: Config, port: number) => Partial<Config>])[] = [
      ["because its port is taken", ({ server }, port) => ({ server: { ...server, port } })],
      [
        "because the port of the metrics is taken",
        ({ metrics }, port) => ({ metrics: { ...metrics, enabled: true, listen: `127.0.0.1:${port}` } }),
      ],
      [
        "before it makes its HTTP server",
        ({ server }) => ({ server: { ...server, trustProxy: NO_NETWORK } }),
      ],
      [
        "before it has all its parts",
        ({ rateLimit }) => ({ rateLimit: { ...rateLimit, exempt: NO_NETWORK } }),
      ],
    ];

    test.each(faults)("%s", async (_, change) => {
      const address = await temporaryAddress();
      const db = await openPostgresql(address);
      const sound = { ...defaultConfig, server: { ...defaultConfig.server, port: 0 } };
      const config = { ...sound, ...change(sound, await takenPort()) };
      const starting = serve({ db, config, clock: { now: Date.now }, log: silent });
      await expect(starting).rejects.toThrow(/the port is taken|no network/);
      const client = await connectPlainly(address);
      onTestFinished(() => client.end());
      expect((await client.query("SELECT id FROM live_server")).rows).toEqual([]);
      await db.close();
      const others = "datname = current_database() AND pid <> pg_backend_pid()";
      await until(async () => {
        const { rows } = await client.query(`SELECT pid FROM pg_stat_activity WHERE ${others}`);
        return rows.length === 0;
      });
    });
  },
);
