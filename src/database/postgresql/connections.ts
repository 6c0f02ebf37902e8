import type { ConnectionOptions } from "node:tls";
import { type CustomTypesConfig, Pool, type PoolClient, type QueryConfig, types as parsers } from "pg";
import { FormsvcError } from "../../foundation/errors.ts";
import { type DatabaseAddress, type DatabaseHost, isRemote } from "./address.ts";
import { checkServer, FACTS_SQL, type ServerFacts } from "./check-server.ts";
import { isConnectionLost, PassedOver, translatePostgresqlError } from "./postgresql-error.ts";

/** Time for which an unused connection is kept. */
const IDLE_MS = 10_000;
/** After this time without traffic the operating system asks whether the other end is still there. */
const KEEP_ALIVE_MS = 10_000;

/** Types that become numbers, because every count and time is below 2^53; the driver would return them as text. */
const AS_NUMBERS: ReadonlySet<number> = new Set([parsers.builtins.INT8, parsers.builtins.NUMERIC]);
const types: CustomTypesConfig = {
  getTypeParser: (id, format) =>
    AS_NUMBERS.has(id) ? Number : (parsers.getTypeParser(id, format) as unknown),
};

/** Connections to the primary, which is one of the hosts of an address. */
export interface Connections {
  /** Takes a connection to a server that was checked. Give it back with `release`; pass an error if it cannot be used again. */
  take(): Promise<PoolClient>;
  close(): Promise<void>;
}

export interface PoolOptions {
  /** The largest number of connections at a time. */
  readonly size: number;
  /** The longest wait for a connection, whether it is free or must be made, in milliseconds. */
  readonly connectTimeoutMs: number;
  /** The longest wait for the answer to a statement, in milliseconds; after it the connection is closed. Null waits without limit. */
  readonly answerTimeoutMs?: number | null;
}

/**
 * Connections that certainly have one session all the time: the process that PostgreSQL states is the one they connected to, so there is no
 * pooler.
 */
const direct = new WeakSet<PoolClient>();

/** Whether there may be a pooler in between, so that prepared statements cannot be used. */
export function isPooled(client: PoolClient): boolean {
  return !direct.has(client);
}

export function createConnections(address: DatabaseAddress, options: PoolOptions): Connections {
  const pools = address.hosts.map((host) => createPool(address, host, options));
  const checked = new WeakSet<PoolClient>();
  let current = 0;
  const takeFrom = async (pool: Pool | undefined): Promise<PoolClient | undefined> => {
    const client = await pool?.connect();
    if (client === undefined || checked.has(client)) return client;
    try {
      await check(client, address.shown, options.connectTimeoutMs);
    } catch (error) {
      client.release(true);
      throw error;
    }
    checked.add(client);
    return client;
  };
  return {
    async take() {
      let failure: unknown;
      for (let tried = 0; tried < pools.length; tried += 1) {
        const index = (current + tried) % pools.length;
        try {
          const client = await takeFrom(pools[index]);
          current = index;
          if (client !== undefined) return client;
        } catch (error) {
          // Reports the error of the first host, unless a later host is the primary and has an error of its own.
          failure = failure === undefined || !isPassedOver(error) ? error : failure;
          if (!isPassedOver(error)) break;
        }
      }
      throw translatePostgresqlError(failure, address.shown);
    },
    async close() {
      for (const pool of pools) await pool.end();
    },
  };
}

function isPassedOver(error: unknown): boolean {
  return error instanceof PassedOver || isConnectionLost(error);
}

function createPool(address: DatabaseAddress, host: DatabaseHost, options: PoolOptions): Pool {
  const { user, password, database } = address;
  const pool = new Pool({
    host: host.host,
    port: host.port,
    user,
    // A function, because the driver would ignore an empty password and look for one in the environment.
    password: () => password ?? "",
    database,
    application_name: "formsvc",
    client_encoding: "UTF8",
    ssl: tlsFor(address, host),
    enableChannelBinding: address.tls.bindsChannel,
    max: options.size,
    connectionTimeoutMillis: options.connectTimeoutMs,
    ...(options.answerTimeoutMs ? { query_timeout: options.answerTimeoutMs } : {}),
    idleTimeoutMillis: IDLE_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    pipeline: true,
    types,
  });
  // An error of a connection in use is passed on by its statement; an idle connection is replaced when it is needed.
  const alreadyReported = (): void => undefined;
  pool.on("error", alreadyReported);
  pool.on("connect", (client) => client.on("error", alreadyReported));
  return pool;
}

async function check(client: PoolClient, shown: string, timeoutMs: number): Promise<void> {
  // The driver supports this limit, but its types do not have it.
  const asked: QueryConfig & { readonly query_timeout: number } = {
    text: `${FACTS_SQL}, pg_backend_pid() AS pid`,
    query_timeout: timeoutMs,
  };
  const { rows } = await client.query<ServerFacts & { readonly pid: number }>(asked);
  const [facts] = rows;
  if (facts === undefined) throw new Error("the server said nothing about itself");
  const { processID } = client as unknown as { readonly processID: number };
  if (facts.pid === processID) direct.add(client);
  try {
    checkServer(facts, shown);
  } catch (error) {
    if (error instanceof FormsvcError && facts.is_standby) throw new PassedOver(error.code, error.message);
    throw error;
  }
}

function tlsFor({ tls }: DatabaseAddress, host: DatabaseHost): ConnectionOptions | false {
  if (!tls.always && !isRemote(host)) return false;
  return { rejectUnauthorized: true, ...(tls.authorities === null ? {} : { ca: tls.authorities }) };
}
