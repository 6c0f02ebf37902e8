import { setTimeout as sleep } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import type { Command } from "commander";
import type { AnyDatabase } from "../../database/any-database.ts";
import { checkServerConfig } from "../../config/check-server-config.ts";
import type { Config } from "../../config/config.ts";
import { readServiceManager } from "../../config/load-systemd.ts";
import { isServed } from "../../database/sqlite/server-lock.ts";
import { toIsoTime } from "../../foundation/clock.ts";
import { describeError, FormsvcError } from "../../foundation/errors.ts";
import { databaseLost, serverStopped, serverStopping, variableUnknown } from "../../foundation/events.ts";
import { nobodySignsIn } from "../../foundation/sign-in-events.ts";
import { openLog, type Log } from "../../foundation/log.ts";
import { addCommand, command, type CommandContext, refuse } from "../command.ts";
import { checkPlans } from "../../workspaces/workspace-store.ts";
import { readOidcSettings } from "../../sessions/oidc-settings.ts";
import { doesSomebodySignIn, offerFirstSignIn } from "./first-sign-in.ts";
import { isOnTerminal } from "../output/output.ts";
import { loadForDatabase } from "../open.ts";
import { withServedDatabase } from "../open-served.ts";
import { nextStopSignal } from "../../server/stop-signals.ts";
import { createServiceNews } from "../../server/systemd-notify.ts";
import { requireFreeAddresses } from "../../server/listen.ts";
import { startServer } from "../../server/start-server.ts";

export function register(program: Command): void {
  addCommand(program, serve);
}

const ENGINE_FLAGS: readonly string[] = [
  // How much the old objects may grow before they are collected, in percent. By the engine's own rule they grow fourfold.
  "--heap-growing-percent=50",
  // Without this, a first burst of posts that are all under way at a collection makes the engine treat what a post allocates as long-lived.
  // From then on each post leaves dead old objects, and keeps what they refer to, until old objects are collected.
  "--no-allocation-site-pretenuring",
];

const serve = command({
  usage: "serve",
  isLocal: true,
  summary: "Take posts until stopped",
  options: [
    { flags: "--host <host>", summary: "address to listen on (else server.host)", parse: parseHost },
    {
      flags: "--port <port>",
      summary: "port to listen on; 0 takes any free one (else server.port)",
      parse: parsePort,
    },
  ],
  examples: ["formsvc serve", "formsvc serve --host 0.0.0.0 --port 80"],
  action: async (context, options) => {
    const loaded = loadForDatabase(context);
    const config = overrideListener(loaded.config, options);
    checkServerConfig(config);
    if (config.dashboard.enabled) readOidcSettings(config.oidc);
    const log = await openLog(config.log.level, config.log.format);
    for (const name of loaded.unknownVariables) variableUnknown(log, name);
    requireSetClock(context.clock.now());
    await requireFree(config);
    await withServedDatabase(config, context.clock, log, async (db) => {
      await db.read(() => checkPlans(config.plans));
      if (config.dashboard.enabled && !isOnTerminal() && !(await doesSomebodySignIn(db, config)))
        nobodySignsIn(log, "formsvc account sign-in-link EMAIL");
      await serveUntilStopped(db, config, context, log);
    });
    serverStopped(log);
  },
});

/** A machine whose clock has no battery starts with 1970, or with the year of its board. This is before any of our releases. */
const EARLIEST_TIME = Date.UTC(2020, 0);

/** @throws unavailable while the clock is not set: posts would be dated by it, and deleted for their age when it is. */
function requireSetClock(now: number): void {
  if (now >= EARLIEST_TIME) return;
  const advice = "set it first, and keep it set: timedatectl set-ntp true";
  throw new FormsvcError(
    "unavailable",
    `this machine's clock shows ${toIsoTime(now)}, which cannot be; ${advice}`,
  );
}

/** If the file is served already, that says more than its port, which is taken too. */
async function requireFree(config: Config): Promise<void> {
  const { path, url } = config.database;
  if (url === null && isServed(path)) return;
  await requireFreeAddresses(config, readServiceManager(process.pid).listenFd);
}

async function serveUntilStopped(
  db: AnyDatabase,
  config: Config,
  context: CommandContext,
  log: Log,
): Promise<void> {
  const { configFile, clock } = context;
  const manager = readServiceManager(process.pid);
  const news = createServiceNews(manager, log);
  const stopSignal = nextStopSignal();
  const { listenFd } = manager;
  const server = await startServer({ db, config, clock, log }, { configFile, listenFd });
  // Set only now that everything for a start is loaded. If flags change, the engine refuses code that was compiled before, and compiles
  // Node's own modules again.
  for (const flag of ENGINE_FLAGS) setFlagsFromString(flag);
  try {
    news.ready();
    if (config.dashboard.enabled && listenFd === null && isOnTerminal())
      await Promise.race([offerFirstSignIn(db, config, context, server.url), stopSignal]);
    serverStopping(log, await Promise.race([stopSignal, endWhenLost(db, log)]));
    news.stopping();
  } finally {
    await server.stop();
  }
}

/** The time in which those who wait are told that nothing was stored. */
const LAST_ANSWERS_MS = 500;

/**
 * Ends the process when the disk failed to keep what was written. Whoever restarts it has the log read anew. Nothing is closed, because that
 * would copy the log into the file, which may have lost pages.
 */
async function endWhenLost(db: AnyDatabase, log: Log): Promise<never> {
  if (db.engine !== "sqlite") return new Promise(() => {});
  const { code, message } = await db.lost;
  databaseLost(log, { reason: message });
  await sleep(LAST_ANSWERS_MS);
  return process.exit(describeError(code).exitCode);
}

/** Refuses an empty host, which would mean every address of the machine. */
function parseHost(value: string): string {
  return value === "" ? refuse("expected an address or a host's name") : value;
}

function parsePort(value: string): number {
  return /^\d{1,5}$/.test(value) && Number(value) <= 65_535
    ? Number(value)
    : refuse("expected a port from 0 to 65535");
}

function overrideListener(
  config: Config,
  { host, port }: { readonly host: string | null; readonly port: number | null },
): Config {
  const { server } = config;
  return { ...config, server: { ...server, host: host ?? server.host, port: port ?? server.port } };
}
