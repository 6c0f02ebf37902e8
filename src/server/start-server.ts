import type { Socket } from "node:net";
import type { FastifyInstance } from "fastify";
import {
  createSubmitService,
  dashboardUrlOf,
  ENDPOINT_CONTENTS,
  type ServiceParts,
  spamDefaults,
} from "../app.ts";
import type { Config } from "../config/config.ts";
import type { SqliteDatabase } from "../database/sqlite/sqlite-database.ts";
import { hasLitestream } from "../database/sqlite/litestream.ts";
import {
  checkpointFailed,
  metricsListening,
  metricsUnguarded,
  serverGraceOver,
  serverListening,
} from "../foundation/events.ts";
import { compileNetworks } from "../foundation/ip-address.ts";
import { isThisMachineOnly, parseListenAddress } from "../foundation/listen-address.ts";
import type { Log } from "../foundation/log.ts";
import type { ExposedMetrics } from "../foundation/metrics.ts";
import { version } from "../foundation/version.ts";
import { mountDashboard } from "../dashboard/dashboard.ts";
import { createMetricsServer } from "../http/metrics-routes.ts";
import { createServer } from "../http/server.ts";
import { handOverConnections } from "./hand-over.ts";
import { createSelfExamination } from "./examine-self.ts";
import { listen } from "./listen.ts";
import { startChores } from "./chores.ts";

/**
 * A server does not wait for another process inside a statement, because everything else would wait with it: the
 * commit queue tries again instead.
 */
const SERVER_BUSY_TIMEOUT_MS = 10;
const IDLE_CHECK_MS = 50;
/** Longest time for deliveries in flight to end when stopping: a little more than one attempt may take. */
const DELIVERY_GRACE_MS = 11_000;

export interface RunningServer {
  /** The address on which it listens, with the port that the system gave. */
  readonly url: string;
  /** Answers the requests that were taken, refuses new ones, and leaves everything in the database file. Does not close it. */
  stop(): Promise<void>;
}

export interface Surroundings {
  /** As given with `--config`; null if it was not given. */
  readonly configFile: string | null;
  /** A socket that listens already and outlives this server; null makes one. */
  readonly listenFd: number | null;
}

/**
 * Serves a database that is up to date until stopped. Its last write before it listens waits for another process as long as the
 * database was opened to wait; from then on nothing waits. If it throws, nothing is left that listens or runs.
 *
 * @throws failed when the address cannot be listened on, database_busy when another process holds the write lock.
 */
export async function startServer(
  parts: Omit<ServiceParts, "metrics">,
  { configFile, listenFd }: Surroundings = { configFile: null, listenFd: null },
): Promise<RunningServer> {
  const { db, config, clock, log } = parts;
  const service = createSubmitService({ ...parts, metrics: await loadMetrics(config) });
  await service.deliverer.recover();
  db.pragma(`busy_timeout = ${SERVER_BUSY_TIMEOUT_MS}`);
  let draining = false;
  const server = createServer({
    ...service.posts,
    reader: service.reader,
    metrics: service.metrics,
    limits: config.server,
    baseUrl: config.server.baseUrl,
    trustedProxies: compileNetworks(config.server.trustProxy),
    // A client on an open connection cannot know of a restart; with a socket that stays, no request is refused.
    isDraining: () => draining && listenFd === null,
    log,
  });
  if (config.dashboard.enabled) {
    const { keyring, sender, news, onChange } = service;
    const examine = createSelfExamination(parts, configFile);
    const own = {
      configFile,
      dashboardUrl: dashboardUrlOf(config),
      endpointContents: ENDPOINT_CONTENTS,
      spamDefaults: spamDefaults(config),
    };
    mountDashboard(server, { ...parts, ...own, keyring, sender, news, examine, onChange });
  }
  let ownMetrics: FastifyInstance | null = null;
  const sockets = followSockets(server);
  const mayCloseIdle = listenFd === null ? () => true : handOverConnections(server);
  const chores = await startChores({ db, config, configFile, service, clock, log });
  const { shutdownGraceMs } = config.server;
  const stop = async (): Promise<void> => {
    draining = true;
    const delivered = service.deliverer.stop(Math.min(DELIVERY_GRACE_MS, shutdownGraceMs));
    // First, because a service manager sends the same signal to the process that makes a backup.
    const ended = chores.stop();
    await closeWithin(shutdownGraceMs, { server, sockets, mayCloseIdle, log });
    await ended;
    await service.drain();
    await delivered;
    await ownMetrics?.close();
    checkpoint(db, log);
  };
  try {
    const url = await listen(server, config.server, "server", listenFd);
    // Last: if both have the same port, the error of this one is the helpful one.
    ownMetrics = await serveMetrics(config.metrics, service.metrics, log);
    serverListening(log, { url, version, database: db.path });
    service.deliverer.start();
    return { url, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** The library is loaded only where it is used: it costs every start 60 ms. */
async function loadMetrics({ metrics }: Config): Promise<ExposedMetrics | null> {
  if (!metrics.enabled) return null;
  const { createMetrics } = await import("../foundation/prometheus.ts");
  return createMetrics(metrics.token);
}

/** Serves `/metrics` on an address of its own; null if the configuration has none. */
async function serveMetrics(
  { listen: address, token }: Config["metrics"],
  metrics: ExposedMetrics | null,
  log: Log,
): Promise<FastifyInstance | null> {
  if (metrics === null || address === null) return null;
  const server = createMetricsServer(metrics, log);
  const where = parseListenAddress(address);
  const url = `${await listen(server, where, "metrics")}/metrics`;
  metricsListening(log, { url });
  if (token === null && !isThisMachineOnly(where)) metricsUnguarded(log, { url });
  return server;
}

/** Every open connection, including those that Node's HTTP server no longer tracks. */
function followSockets(server: FastifyInstance): ReadonlySet<Socket> {
  const sockets = new Set<Socket>();
  server.server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  return sockets;
}

interface Closing {
  readonly server: FastifyInstance;
  readonly sockets: ReadonlySet<Socket>;
  readonly mayCloseIdle: () => boolean;
  readonly log: Log;
}

async function closeWithin(graceMs: number, { server, sockets, mayCloseIdle, log }: Closing): Promise<void> {
  const deadline = setTimeout(() => {
    serverGraceOver(log);
    for (const socket of sockets) socket.destroy();
  }, graceMs);
  // A connection with an answer under way at the stop becomes idle later, and its client may keep it open.
  const idle = setInterval(() => {
    if (mayCloseIdle()) server.server.closeIdleConnections();
  }, IDLE_CHECK_MS);
  await server.close().catch(ignoreNotListening);
  clearInterval(idle);
  clearTimeout(deadline);
}

function ignoreNotListening(error: unknown): void {
  if ((error as NodeJS.ErrnoException).code !== "ERR_SERVER_NOT_RUNNING") throw error;
}

/**
 * Leaves a single file behind if nobody else has it open. If a reader prevents it, the next start does it. Not done under
 * Litestream, which expects to do this itself and would have to copy the whole file again.
 */
function checkpoint(db: SqliteDatabase, log: Log): void {
  try {
    if (!hasLitestream(db)) db.pragma("wal_checkpoint(TRUNCATE)");
  } catch (error) {
    checkpointFailed(log, error);
  }
}
