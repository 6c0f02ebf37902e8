import { join } from "node:path";
import { onTestFinished } from "vitest";
import { openMigrated } from "../../src/app/open-migrated.ts";
import { startServer as serve } from "../../src/server/start-server.ts";
import { type Config, defaultConfig } from "../../src/config/config.ts";
import { COMMAND_BUSY_TIMEOUT_MS, openDatabase } from "../../src/database/sqlite/open-database.ts";
import type { SqliteDatabase } from "../../src/database/sqlite/sqlite-database.ts";
import { defaultEndpointSettings, type EndpointSettings } from "../../src/endpoints/endpoint.ts";
import { createLog } from "../../src/foundation/log.ts";
import { type SchemaDefinition } from "../../src/schemas/definition.ts";
import { exampleSchema } from "./example-schema.ts";
import {
  chooseWorkspace,
  insertWorkspaceRow,
  listWorkspaces,
  updatePlanRow,
} from "../../src/workspaces/workspace-store.ts";
import { createFakeClock, type FakeClock } from "./fake-clock.ts";
import { copyFreshDatabase } from "./fresh-database.ts";
import { type Answer, sendRequest, type TestRequest } from "./http-client.ts";
import { memoryFolder } from "./memory-folder.ts";
import { makeFolder } from "./temporary-folder.ts";
import { makeEndpoint } from "./terminal.ts";

/** An endpoint with the texts of its keys. */
export interface TestEndpoint {
  readonly id: string;
  readonly workspaceId: string;
  readonly secret: string;
  readonly publishable: string;
}

export interface EndpointOverrides {
  /** Puts the endpoint into a new workspace on this plan. */
  readonly plan?: string;
  readonly schema?: SchemaDefinition;
  readonly settings?: Partial<EndpointSettings>;
}

/** A real server over real HTTP and a real file, wired as `serve` wires it. Only the clock is faked. */
export interface TestServer {
  readonly url: string;
  readonly port: number;
  readonly clock: FakeClock;
  readonly databasePath: string;
  /** The server's own connection. */
  readonly serverDatabase: SqliteDatabase;
  /** Another connection, as a command would have. */
  readonly owner: SqliteDatabase;
  readonly config: Config;
  /** The log, one entry for each line. */
  readonly log: readonly string[];
  addEndpoint(overrides?: EndpointOverrides): Promise<TestEndpoint>;
  request(request: TestRequest): Promise<Answer>;
  /** Posts to `/submit`. A body that is not text is sent as JSON. */
  post(key: string | null, body: unknown, headers?: Record<string, string>): Promise<Answer>;
  /** The data of every submission, oldest first. */
  stored(endpointId?: string): Record<string, unknown>[];
  /** Starts the server again on the same database file, as a new process with an empty memory. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

type Deep<T> = T extends readonly unknown[] ? T : T extends object ? { [K in keyof T]?: Deep<T[K]> } : T;
export type ConfigOverrides = Deep<Config>;

/** A configuration without limits, so that only a test about a limit meets it. */
const UNLIMITED: ConfigOverrides = {
  server: { port: 0 },
  plans: { hobby: { monthlySubmissions: null, endpoints: null, customSpam: false, fileBytes: null } },
  files: { maxBytesPerAddressPerDay: null, maxFormShare: 1 },
  rateLimit: { publishable: { max: null }, secret: { max: null }, badKey: { max: null } },
  log: { level: "info", format: "json" },
};

/** How fast the dashboard answers one visitor, how a person waits who signs in after failures, and how long a body may stand still. */
type Pace = Pick<Parameters<typeof serve>[0], "visitIntervalMs" | "signInSleep" | "bodyGraceMs">;
/** No waiting, so that only tests about the pace wait. */
const NO_PACE: Pace = { visitIntervalMs: 0, signInSleep: () => Promise.resolve() };
/** The pace with which the server serves people. */
export const USUAL_PACE: Pace = {};

/**
 * Starts a server. After the test it is stopped, and its file is removed.
 * @param parent the folder that contains the server's folder; if absent, one in memory
 */
export async function startServer(
  overrides: ConfigOverrides = {},
  pace: Pace = NO_PACE,
  parent = memoryFolder(),
): Promise<TestServer> {
  const server = await launchServer(overrides, pace, parent);
  onTestFinished(() => server.stop());
  return server;
}

/** Starts a server for `beforeAll`: the caller must stop it. */
export async function launchServer(
  overrides: ConfigOverrides = {},
  pace: Pace = NO_PACE,
  parent = memoryFolder(),
): Promise<TestServer> {
  const folder = makeFolder(parent);
  const databasePath = join(folder.path, "formsvc.db");
  copyFreshDatabase(databasePath);
  const base = merge(merge(defaultConfig, UNLIMITED), overrides) as Config;
  const config = { ...base, database: { ...defaultConfig.database, path: databasePath } };
  const clock = createFakeClock();
  const lines: string[] = [];
  const log = createLog(config.log.level, { write: (line) => void lines.push(line) });

  const start = async () => {
    const { db } = openMigrated(config, COMMAND_BUSY_TIMEOUT_MS);
    try {
      return { db, running: await serve({ db, config, clock, log, ...pace }) };
    } catch (error) {
      db.close();
      folder.remove();
      throw error;
    }
  };
  let current = await start();
  const owner = openDatabase(databasePath, { busyTimeoutMs: 10_000 });
  const halt = async () => {
    await current.running.stop();
    current.db.close();
  };
  const request = (made: TestRequest) => sendRequest(current.running.url, made);

  return {
    get url() {
      return current.running.url;
    },
    get port() {
      return Number(new URL(current.running.url).port);
    },
    get serverDatabase() {
      return current.db;
    },
    clock,
    databasePath,
    owner,
    config,
    log: lines,
    addEndpoint: (made = {}) => addEndpoint(owner, config, clock, made),
    request,
    post: (key, body, headers = {}) =>
      request({
        method: "POST",
        path: "/submit",
        headers: {
          "content-type": "application/json",
          ...(key !== null && { authorization: `Bearer ${key}` }),
          ...headers,
        },
        body: typeof body === "string" || Buffer.isBuffer(body) ? body : JSON.stringify(body),
      }),
    stored: (endpointId) => storedData(owner, endpointId),
    async restart() {
      await halt();
      current = await start();
    },
    async stop() {
      await halt();
      owner.close();
      folder.remove();
    },
  };
}

/** A post that the example schema and the spam filter accept. */
export const goodPost = { name: "Ana Ruiz", email: "ana@example.org", message: "Are you open on Sunday?" };

async function addEndpoint(
  owner: SqliteDatabase,
  config: Config,
  clock: FakeClock,
  { plan, schema = exampleSchema, settings = {} }: EndpointOverrides,
): Promise<TestEndpoint> {
  const workspace =
    plan === undefined
      ? (
          await owner.transaction(function* () {
            return (yield* listWorkspaces())[0] ?? (yield* chooseWorkspace(null, clock.now()));
          })
        ).id
      : addWorkspace(owner, config, clock, plan);
  const made = { name: "Contact", definition: schema, settings: { ...defaultEndpointSettings, ...settings } };
  const created = await makeEndpoint(owner, made, { workspace, plans: config.plans, now: clock.now() });
  const { id, workspaceId } = created.endpoint;
  return { id, workspaceId, secret: created.secret.text, publishable: created.publishable.text };
}

function addWorkspace(owner: SqliteDatabase, config: Config, clock: FakeClock, plan: string): string {
  const { id } = owner.now(() => insertWorkspaceRow(`workspace ${plan}`, null, clock.now()));
  return owner.now(() => updatePlanRow(id, plan, config.plans)).id;
}

function storedData(owner: SqliteDatabase, endpointId: string | undefined): Record<string, unknown>[] {
  const rows = owner
    .prepare(
      "SELECT endpoint_id, data FROM submission JOIN endpoint_number ON number = endpoint_number ORDER BY seq",
    )
    .all() as {
    endpoint_id: string;
    data: string;
  }[];
  return rows
    .filter((row) => endpointId === undefined || row.endpoint_id === endpointId)
    .map((row) => JSON.parse(row.data) as Record<string, unknown>);
}

function merge(base: unknown, over: unknown): unknown {
  if (!isObject(base) || !isObject(over)) return over === undefined ? base : over;
  return Object.fromEntries(
    [...new Set([...Object.keys(base), ...Object.keys(over)])].map((name) => [
      name,
      merge(base[name], over[name]),
    ]),
  );
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
