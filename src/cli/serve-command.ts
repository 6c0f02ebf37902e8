import type { AddressInfo } from "node:net";
import { resolve } from "node:path";
import type { Command } from "commander";
import type { FastifyInstance } from "fastify";
import { createSubmitService, openMigrated } from "../app.ts";
import type { Config } from "../config/config.ts";
import { type Database, hasLitestream } from "../database/database.ts";
import { lockServer } from "../database/server-lock.ts";
import { systemClock, toIsoTime } from "../foundation/clock.ts";
import {
  checkpointFailed,
  databaseMigrated,
  serverGraceOver,
  serverListening,
  serverStopped,
  serverStopping,
} from "../foundation/events.ts";
import { FormsvcError } from "../foundation/errors.ts";
import { compileNetworks } from "../foundation/ip-address.ts";
import { createLog, type Log } from "../foundation/log.ts";
import type { ExposedMetrics } from "../foundation/metrics.ts";
import { version } from "../foundation/version.ts";
import { createServer } from "../http/server.ts";
import { addCommand, type CommandSpec, type Options, refuse, text } from "./command.ts";
import { readConfig } from "./open.ts";
import { startChores } from "./server-chores.ts";

export function register(program: Command): void {
  addCommand(program, serve);
}

/**
 * A server does not wait for another process inside a statement, because everything else would wait with it: the
 * commit queue comes back instead.
 */
const SERVER_BUSY_TIMEOUT_MS = 10;
const IDLE_CHECK_MS = 50;

const serve: CommandSpec = {
  usage: "serve",
  summary: "Take posts until stopped",
  options: [
    { flags: "--host <host>", summary: "address to listen on (else server.host)" },
    {
      flags: "--port <port>",
      summary: "port to listen on; 0 takes any free one (else server.port)",
      parse: parsePort,
    },
  ],
  examples: ["formsvc serve", "formsvc serve --host 0.0.0.0 --port 80"],
  action: async (context, options) => {
    const config = overrideListener(readConfig(context), options);
    const log = createLog(config.log.level, config.log.format);
    const lock = lockServer(resolve(config.database.path), process.pid, toIsoTime(systemClock.now()));
    try {
      const { db, migrated } = openMigrated(config, SERVER_BUSY_TIMEOUT_MS);
      try {
        if (migrated.pending.length > 0) {
          databaseMigrated(log, { applied: migrated.pending, keptCopy: migrated.keptCopy });
        }
        await serveUntilStopped(db, config, context.configFile, log);
      } finally {
        db.close();
      }
    } finally {
      lock.release();
    }
    serverStopped(log);
  },
};

async function serveUntilStopped(
  db: Database,
  config: Config,
  configFile: string | null,
  log: Log,
): Promise<void> {
  const service = createSubmitService(db, config, systemClock, log, await loadMetrics(config));
  let draining = false;
  const server = createServer({
    ...service,
    limits: config.server,
    trustedProxies: compileNetworks(config.server.trustProxy),
    isDraining: () => draining,
    log,
  });
  const stopSignal = nextStopSignal();
  await listen(server, config, log);
  const chores = await startChores({ db, config, configFile, service, log });
  const signal = await stopSignal;
  draining = true;
  serverStopping(log, signal);
  await chores.stop();
  await closeWithin(server, config.server.shutdownGraceMs, log);
  await service.drain();
  checkpoint(db, log);
}

/** The library is loaded only where it is used: it costs every start 60 ms. */
async function loadMetrics({ metrics }: Config): Promise<ExposedMetrics | null> {
  if (!metrics.enabled) return null;
  const { createMetrics } = await import("../foundation/prometheus.ts");
  return createMetrics(metrics.token);
}

async function listen(server: FastifyInstance, config: Config, log: Log): Promise<void> {
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
  const url = `http://${address.family === "IPv6" ? `[${address.address}]` : address.address}:${address.port}`;
  serverListening(log, { url, version, database: resolve(config.database.path) });
}

/** The first signal stops gracefully; a second one at once. */
function nextStopSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolveSignal) => {
    let stopping = false;
    const stop = (signal: NodeJS.Signals): void => {
      if (stopping) process.exit(1);
      stopping = true;
      resolveSignal(signal);
    };
    process.on("SIGTERM", stop);
    process.on("SIGINT", stop);
  });
}

async function closeWithin(server: FastifyInstance, graceMs: number, log: Log): Promise<void> {
  const deadline = setTimeout(() => {
    serverGraceOver(log);
    server.server.closeAllConnections();
  }, graceMs);
  // A connection whose answer was under way when the stop began falls idle later, and its client may keep it open.
  const idle = setInterval(() => server.server.closeIdleConnections(), IDLE_CHECK_MS);
  await server.close();
  clearInterval(idle);
  clearTimeout(deadline);
}

/**
 * Leaves one file behind where nobody else has it open. A reader in the way costs nothing: the next start does it.
 * Litestream counts on doing this itself and would have to copy the whole file again.
 */
function checkpoint(db: Database, log: Log): void {
  try {
    if (!hasLitestream(db)) db.pragma("wal_checkpoint(TRUNCATE)");
  } catch (error) {
    checkpointFailed(log, error);
  }
}

function parsePort(value: string): number {
  return /^\d{1,5}$/.test(value) && Number(value) <= 65_535
    ? Number(value)
    : refuse("expected a port from 0 to 65535");
}

function overrideListener(config: Config, options: Options): Config {
  const host = text(options, "host") ?? config.server.host;
  const port = typeof options["port"] === "number" ? options["port"] : config.server.port;
  return { ...config, server: { ...config.server, host, port } };
}
