import type { AddressInfo } from "node:net";
import type { FastifyInstance } from "fastify";
import { createSubmitService } from "../app.ts";
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
/** How often an idle server looks whether a command changed something; requests look by themselves. */
const NOTICE_INTERVAL_MS = 1000;
/** Longest time for deliveries in flight to end when stopping: a little more than one attempt may take. */
const DELIVERY_GRACE_MS = 11_000;

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
    baseUrl: config.server.baseUrl,
    trustedProxies: compileNetworks(config.server.trustProxy),
    isDraining: () => draining,
    log,
  });
  const url = await listen(server, config);
  log.info(
    { event: "server.listening", url, pid: process.pid, version, database: db.path },
    `listening on ${url}`,
  );
  service.deliverer.start();
  const maintenance = setInterval(() => tryTo(service.maintain, log), MAINTENANCE_INTERVAL_MS);
  const noticing = setInterval(() => tryTo(service.noticeChanges, log), NOTICE_INTERVAL_MS);
  const { shutdownGraceMs } = config.server;
  return {
    url,
    async stop() {
      draining = true;
      clearInterval(maintenance);
      clearInterval(noticing);
      const delivered = service.deliverer.stop(Math.min(DELIVERY_GRACE_MS, shutdownGraceMs));
      await closeWithin(server, shutdownGraceMs, log);
      await service.drain();
      await delivered;
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

function tryTo(work: () => void, log: Log): void {
  try {
    work();
  } catch (error) {
    log.warn({ event: "maintenance.failed", err: error }, "a clean-up failed and is tried again");
  }
}
