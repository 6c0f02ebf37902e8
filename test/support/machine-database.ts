import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { openForCommand } from "../../src/cli/open.ts";
import { withServedDatabase } from "../../src/cli/open-served.ts";
import { checkServerConfig } from "../../src/config/check-server-config.ts";
import { type Config, defaultConfig } from "../../src/config/config.ts";
import { loadConfig } from "../../src/config/load-config.ts";
import type { AnyDatabase } from "../../src/database/any-database.ts";
import { all, text } from "../../src/database/steps.ts";
import { defaultEndpointSettings, type EndpointSettings } from "../../src/endpoints/endpoint.ts";
import { systemClock } from "../../src/foundation/clock.ts";
import { createLog } from "../../src/foundation/log.ts";
import { parseDefinition } from "../../src/schemas/definition.ts";
import { exampleSchema } from "./example-schema.ts";
import { startServer } from "../../src/server/start-server.ts";
import { SCOPES } from "../../src/operations/access.ts";
import { createToken } from "../../src/tokens/token-operations.ts";
import { makeEndpoint, performOn } from "./terminal.ts";

/**
 * Functions that work in the folder of an operator's machine, in the test's own process, because processes of the program take much longer.
 */

export interface Endpoint {
  readonly id: string;
  readonly secret: string;
  readonly publishable: string;
}

export interface EndpointOptions {
  readonly name?: string;
  readonly schema?: object;
  readonly allowOrigin?: readonly string[];
  readonly workspace?: string;
  readonly settings?: Partial<EndpointSettings>;
}

/** Adds an endpoint to the database in a folder. Makes the database if it does not exist. */
export function createEndpoint(
  folder: string,
  { name = "Contact", schema = exampleSchema, workspace, allowOrigin = [], settings }: EndpointOptions = {},
): Promise<Endpoint> {
  return withDatabase(folder, async (db, { plans, newWorkspacePlan }) => {
    const own = { ...defaultEndpointSettings, allowedOrigins: allowOrigin, ...settings };
    const made = { name, definition: parseDefinition(schema), settings: own };
    const place = { workspace: workspace ?? null, plans, newWorkspacePlan, now: systemClock.now() };
    const { endpoint, secret, publishable } = await makeEndpoint(db, made, place);
    return { id: endpoint.id, secret: secret.text, publishable: publishable.text };
  });
}

/** Creates a token of the only account, with every scope, and returns its text. */
export function makeTokenHere(folder: string): Promise<string> {
  return withDatabase(folder, async (db) => {
    const input = { name: "tests at a distance", scopes: SCOPES };
    return (await performOn(db, createToken, input, { now: systemClock.now() })).secret;
  });
}

export function storedData(folder: string, endpointId: string): Promise<Record<string, unknown>[]> {
  return withDatabase(folder, async (db) => {
    const rows = await db.read(() => all(text<StoredRow>(STORED_SQL)));
    return rows
      .filter((row) => row.endpoint_id === endpointId)
      .map((row) => JSON.parse(row.data) as Record<string, unknown>);
  });
}

interface StoredRow {
  readonly endpoint_id: string;
  readonly data: string;
}

const STORED_SQL =
  "SELECT endpoint_id, data FROM submission JOIN endpoint_number ON number = endpoint_number ORDER BY id";

/** Opens the database that the configuration in a folder names, migrated as a command does it, while `work` runs. */
async function withDatabase<Result>(
  folder: string,
  work: (db: AnyDatabase, config: Config) => Promise<Result>,
): Promise<Result> {
  const config = configIn(folder);
  const { db } = await openForCommand(config, systemClock, { makes: true });
  try {
    return await work(db, config);
  } finally {
    await db.close();
  }
}

export interface ServerHere {
  readonly url: string;
  /** Every line that has been logged so far. */
  readonly lines: readonly Record<string, unknown>[];
  /** Drains the server and closes its database. */
  stop(): Promise<void>;
}

/**
 * Serves like the command, on a free port, but in the process of the test. Use it if a test neither ends the server by a signal nor reads
 * its output.
 */
export async function serveHere(folder: string): Promise<ServerHere> {
  const own = configIn(folder);
  const config = { ...own, server: { ...own.server, port: 0 } };
  const lines: Record<string, unknown>[] = [];
  const write = (line: string): void => void lines.push(JSON.parse(line) as Record<string, unknown>);
  const log = createLog(config.log.level, { write });
  checkServerConfig(config);
  const listening = Promise.withResolvers<string>();
  const stopping = Promise.withResolvers<void>();
  const ended = withServedDatabase(config, systemClock, log, async (db) => {
    const server = await startServer({ db, config, clock: systemClock, log });
    listening.resolve(server.url);
    await stopping.promise;
    await server.stop();
  });
  ended.catch(listening.reject);
  const url = await listening.promise;
  return {
    url,
    lines,
    stop() {
      stopping.resolve();
      return ended;
    },
  };
}

/** Reads the configuration that a process in the folder would use. */
function configIn(folder: string): Config {
  const file = join(folder, "formsvc.config.json");
  const { database, ...others } = existsSync(file) ? loadConfig(file, {}).config : defaultConfig;
  return { ...others, database: { ...database, path: resolve(folder, database.path) } };
}
