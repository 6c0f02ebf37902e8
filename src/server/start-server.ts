import type { FastifyInstance } from "fastify";
import type { ServiceParts } from "../app/parts.ts";
import { createSubmitService, type SubmitService } from "../app/submit-service.ts";
import type { Config } from "../config/config.ts";
import {
  dashboardListening,
  metricsListening,
  metricsUnguarded,
  serverListening,
} from "../foundation/events.ts";
import { compileNetworks, isThisMachine } from "../foundation/ip-address.ts";
import { parseListenAddress } from "../foundation/listen-address.ts";
import type { Log } from "../foundation/log.ts";
import type { ExposedMetrics } from "../foundation/metrics.ts";
import { version } from "../foundation/version.ts";
import { createMetricsServer } from "../http/metrics-routes.ts";
import { createGuardedServer, createServer } from "../http/server.ts";
import { type CloseServer, prepareClose } from "./close-server.ts";
import { handOverConnections } from "./hand-over.ts";
import { lateApi, lateMcp, lateTokenFiles } from "./late-api.ts";
import { lateDashboard } from "./late-dashboard.ts";
import { listen } from "./listen.ts";
import { type ServerChores, startChores } from "./chores.ts";

/** The longest time for deliveries in flight to end at a stop: a little more than one attempt may take. */
const DELIVERY_GRACE_MS = 11_000;

export interface RunningServer {
  /** The address on which it listens, with the port that the system chose. */
  readonly url: string;
  /**
   * Answers the requests under way, refuses new ones, and brings everything into the database, which it leaves open. A second call returns
   * the same stop.
   */
  stop(): Promise<void>;
}

type Parts = Omit<ServiceParts, "metrics">;

export interface Surroundings {
  /** The value of `--config`; null if it was not given. */
  readonly configFile: string | null;
  /** A socket that listens already and outlives this server; null opens one. */
  readonly listenFd: number | null;
}

/**
 * Serves a migrated database until it is stopped. The last write before it listens waits for another process as long as the database was
 * opened to wait; from then on nothing waits. If it throws, nothing is left that listens or runs.
 *
 * @throws failed if it cannot listen on the address; database_busy if another process holds the write lock.
 */
export async function startServer(
  parts: Parts,
  { configFile, listenFd }: Surroundings = { configFile: null, listenFd: null },
): Promise<RunningServer> {
  const service = await createSubmitService({ ...parts, metrics: await loadMetrics(parts.config) });
  const { deliverer, served } = service;
  try {
    // Deliveries and scans that an earlier process left are recovered before anything new comes.
    await deliverer.recover();
    await service.scanner.begin();
    await served.begin();
    const running = await serveRequests({ service, parts, configFile }, listenFd);
    const stop = once(async () => {
      try {
        await running.stop();
      } finally {
        await served.end();
      }
    });
    return { url: running.url, stop };
  } catch (error) {
    await served.end();
    throw error;
  }
}

interface Served {
  readonly service: SubmitService;
  readonly parts: Parts;
  /** The value of `--config`; null if it was not given. */
  readonly configFile: string | null;
}

/** Starts what needs the begun database; the caller must end the database. If it throws, nothing is left that listens or runs. */
async function serveRequests(served: Served, listenFd: number | null): Promise<RunningServer> {
  const { service, parts, configFile } = served;
  const { db, config, clock, log } = parts;
  let draining = false;
  // A client on an open connection cannot know of a restart, so no request is refused if the next server has the same socket.
  const { server, ownDashboard } = createServers(served, () => draining && listenFd === null);
  let ownMetrics: FastifyInstance | null = null;
  const closers = [
    prepareClose(server, listenFd === null ? () => true : handOverConnections(server), log),
    ...(ownDashboard === null ? [] : [prepareClose(ownDashboard, () => true, log)]),
  ];
  // The chores are the first that run, so an error above leaves nothing behind.
  const chores = await startChores({ db, config, configFile, service, clock, log });
  const stop = async (): Promise<void> => {
    draining = true;
    await stopServing(service, chores, closers, config.server.shutdownGraceMs);
    await ownMetrics?.close();
  };
  try {
    const url = await listen(server, config.server, "server", listenFd);
    // The dashboard listens after the server: if both have the same port, the error of the dashboard is the more helpful one.
    if (ownDashboard !== null) await serveDashboard(ownDashboard, config.dashboard, log);
    ownMetrics = await serveMetrics(config.metrics, service.metrics, log);
    serverListening(log, { url, version, database: db.name });
    service.deliverer.start();
    service.scanner.start();
    service.mail?.storedLetters.start();
    return { url, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

interface Servers {
  readonly server: FastifyInstance;
  /** Null if the dashboard is off, or on the same address as the server. */
  readonly ownDashboard: FastifyInstance | null;
}

/** Creates the servers; none of them listens yet. */
function createServers(served: Served, isDraining: () => boolean): Servers {
  const { service, parts } = served;
  const { posts, submissions } = service;
  const { config } = parts;
  const guards = guardsOf(served, isDraining);
  const dashboard = lateDashboard(served);
  const hasOwnAddress = config.dashboard.listen !== null;
  const late = [hasOwnAddress ? null : dashboard, lateApi(served), lateMcp(served)];
  const server = createServer({
    ...guards,
    late: late.filter((routes) => routes !== null),
    gatekeeper: posts.gatekeeper,
    intake: posts.intake,
    challenges: posts.challenges,
    uploads: posts.uploads,
    onSecretInBrowser: posts.onSecretInBrowser,
    onPageFault: posts.onPageFault,
    noticeChanges: posts.noticeChanges,
    blindness: posts.blindness,
    isWritable: posts.isWritable,
    awaitsStandby: posts.awaitsStandby,
    reader: submissions.reader,
    linkedFiles: submissions.linkedFiles,
    tokenFiles: lateTokenFiles(served),
    mailLinks: service.mail?.mailLinks ?? null,
    metrics: service.metrics,
    baseUrl: config.server.baseUrl,
  });
  const ownDashboard =
    hasOwnAddress && dashboard !== null
      ? createGuardedServer({ ...guards, late: [dashboard], observe: () => {}, provenKeyOf: () => null })
      : null;
  return { server, ownDashboard };
}

/** The limits and checks that each server has for its requests. */
function guardsOf({ service, parts }: Served, isDraining: () => boolean) {
  const { config, log, bodyGraceMs: graceMs } = parts;
  const { bodyLimitBytes, requestTimeoutMs, trustProxy } = config.server;
  const { uploadTimeoutMs, minBytesPerSecond } = config.files;
  return {
    limits: { bodyLimitBytes, requestTimeoutMs, uploadTimeoutMs, minBytesPerSecond, graceMs },
    trustedProxies: compileNetworks(trustProxy),
    onUntrustedProxy: service.posts.onUntrustedProxy,
    isDraining,
    log,
  };
}

/** Returns a function that does the work at its first call, and always returns that one result. */
function once(work: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | null = null;
  return () => (done ??= work());
}

/** Time in which imports that outlast a stop end and are answered. */
const LAST_WORD_MS = 1000;

async function stopServing(
  { posts, submissions, mail, deliverer, scanner }: SubmitService,
  chores: ServerChores,
  closers: readonly CloseServer[],
  graceMs: number,
): Promise<void> {
  // Stopped before the deliverer, which ends the connections to the mail server.
  mail?.letters.stop();
  const lettersEnded = mail?.storedLetters.stop();
  const scansEnded = scanner.stop();
  const delivered = deliverer.stop(Math.min(DELIVERY_GRACE_MS, graceMs));
  // The chores are stopped before the servers are closed: a service manager sends its signal also to the process that makes a backup.
  const ended = chores.stop();
  // Imports end before their connections are closed, so that who sent them is told.
  const lastWord = setTimeout(
    () => void submissions.imports.close(),
    graceMs - Math.min(LAST_WORD_MS, graceMs / 2),
  );
  await Promise.all(closers.map((close) => close(graceMs)));
  clearTimeout(lastWord);
  await submissions.imports.close();
  await ended;
  await posts.drain();
  await delivered;
  await lettersEnded;
  await scansEnded;
}

/** Loads the library only if metrics are on, because it adds 60 ms to a start. */
async function loadMetrics({ metrics }: Config): Promise<ExposedMetrics | null> {
  if (!metrics.enabled) return null;
  const { createMetrics } = await import("../foundation/prometheus.ts");
  return createMetrics(metrics.token);
}

async function serveDashboard(
  server: FastifyInstance,
  { listen: address }: Config["dashboard"],
  log: Log,
): Promise<void> {
  const url = await listen(server, parseListenAddress(address ?? ""), "dashboard");
  dashboardListening(log, { url: `${url}/dashboard` });
}

/** Serves `/metrics` on its own address; null if the configuration has none. */
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
  if (token === null && !isThisMachine(where.host)) metricsUnguarded(log, { url });
  return server;
}
