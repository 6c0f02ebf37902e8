import type { AddressInfo } from "node:net";
import type { FastifyInstance } from "fastify";
import { createSubmitService, type SubmitService } from "../app.ts";
import type { Config } from "../config/config.ts";
import type { Database } from "../database/database.ts";
import type { Clock } from "../foundation/clock.ts";
import { FormsvcError } from "../foundation/errors.ts";
import { compileNetworks } from "../foundation/ip-address.ts";
import type { Log } from "../foundation/log.ts";
import { version } from "../foundation/version.ts";
import { createServer } from "../http/server.ts";

/**
 * A server does not wait for another process inside a statement, because everything else would wait with it: the
 * commit queue comes back instead.
 */
export const SERVER_BUSY_TIMEOUT_MS = 10;
const MAINTENANCE_INTERVAL_MS = 60_000;
const IDLE_CHECK_MS = 50;

export interface RunningServer {
  /** Where it listens, with the port that it was given. */
  readonly url: string;
  /** Answers what was taken, refuses the rest, and leaves everything in the database file. Does not close the database. */
  stop(): Promise<void>;
}

/** Serves a database that is up to date until stopped. @throws failed when the address cannot be listened on. */
export async function startServer(
  db: Database,
  config: Config,
  clock: Clock,
  log: Log,
): Promise<RunningServer> {
  const service = createSubmitService(db, config, clock, log);
  let draining = false;
  const server = createServer({
    ...service,
    limits: config.server,
    trustedProxies: compileNetworks(config.server.trustProxy),
    isDraining: () => draining,
    log,
  });
  const url = await listen(server, config);
  log.info(
    { event: "server.listening", url, pid: process.pid, version, database: db.path },
    `listening on ${url}`,
  );
  const maintenance = setInterval(() => maintain(service, log), MAINTENANCE_INTERVAL_MS);
  return {
    url,
    async stop() {
      draining = true;
      clearInterval(maintenance);
      await closeWithin(server, config.server.shutdownGraceMs, log);
      await service.drain();
      checkpoint(db, log);
    },
  };
}

async function listen(server: FastifyInstance, config: Config): Promise<string> {
  const { host, port } = config.server;
  try {
    await server.listen({ host, port });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const why: Record<string, string> = {
      EADDRINUSE: "the port is taken; stop what listens there, or choose another with --port",
      EACCES: "this user may not listen there; choose a port from 1024 on with --port",
      EADDRNOTAVAIL: "this machine does not have that address; choose another with --host",
    };
    throw new FormsvcError("failed", `${host}:${port}: ${why[code ?? ""] ?? (error as Error).message}`, {
      cause: error,
    });
  }
  const address = server.server.address() as AddressInfo;
  return `http://${address.family === "IPv6" ? `[${address.address}]` : address.address}:${address.port}`;
}

async function closeWithin(server: FastifyInstance, graceMs: number, log: Log): Promise<void> {
  const deadline = setTimeout(() => {
    log.warn({ event: "server.grace-over" }, "requests still open were cut off");
    server.server.closeAllConnections();
  }, graceMs);
  // A connection whose answer was under way when the stop began falls idle later, and its client may keep it open.
  const idle = setInterval(() => server.server.closeIdleConnections(), IDLE_CHECK_MS);
  await server.close();
  clearInterval(idle);
  clearTimeout(deadline);
}

/** Leaves one file behind where nobody else has it open. A reader in the way costs nothing: the next start does it. */
function checkpoint(db: Database, log: Log): void {
  try {
    db.pragma("wal_checkpoint(TRUNCATE)");
  } catch (error) {
    log.warn(
      { event: "database.checkpoint-failed", err: error },
      "the write-ahead log stays beside the database",
    );
  }
}

function maintain(service: SubmitService, log: Log): void {
  try {
    service.maintain();
  } catch (error) {
    log.warn({ event: "maintenance.failed", err: error }, "a clean-up failed and is tried again");
  }
}
