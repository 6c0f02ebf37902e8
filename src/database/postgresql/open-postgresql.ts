import type { Database } from "../database.ts";
import { type DatabaseAddress, parseDatabaseAddress } from "./address.ts";
import { type BatchConnection, createBatchConnection } from "./batch-connection.ts";
import { type Connections, createConnections } from "./connections.ts";
import { translatePostgresqlError } from "./postgresql-error.ts";
import { type Steps } from "../steps.ts";
import { BEGIN, runTransaction } from "./run-transaction.ts";
import type { PoolClient } from "pg";

export interface PostgresqlOptions {
  /** The largest number of connections at a time. */
  readonly connections: number;
  /**
   * Time in milliseconds for which a transaction is repeated while others are in its way, and a batch of posts while the server is away.
   */
  readonly patienceMs: number;
  /** The longest wait for the answer to a statement outside of batches, in milliseconds; absent waits without limit. */
  readonly answerTimeoutMs?: number;
  /** Called when a commit outside of batches has waited for three seconds. */
  readonly onSlowCommit?: () => void;
}

/** The longest wait for a connection, whether it is free or must be made. */
const CONNECT_TIMEOUT_MS = 10_000;
/** The same for a batch. It is shorter, because posts wait ten seconds at most for everything together. */
const BATCH_CONNECT_TIMEOUT_MS = 3000;

/** The options of a command, which does one thing after the other. */
export const COMMAND_OPTIONS: PostgresqlOptions = {
  connections: 2,
  patienceMs: 10_000,
};

/** A PostgreSQL database, with what only this engine has, for migrations and for copies to and from it. */
export interface PostgresqlDatabase extends Database {
  readonly engine: "postgresql";
  /** The address, for connections besides its own. It contains the password. */
  readonly address: DatabaseAddress;
  /** Passes a connection to `work`, for plain SQL. If `work` throws, the connection is closed, so that no open transaction remains. */
  withConnection<Result>(work: (client: PoolClient) => Promise<Result>): Promise<Result>;
  /** The connection for batches of posts. It is made for the first batch. */
  readonly batches: BatchConnection;
  /**
   * Sets a function that is called before each durable transaction and each batch. The transaction waits for the promise that it returns.
   * It may throw, which refuses the transaction.
   */
  guardCommits(gate: Gate): void;
  close(): Promise<void>;
}

type Gate = () => Promise<void> | undefined;

/**
 * Connects to the primary, which is one of the hosts of an address, and checks that the server's settings keep what was acknowledged. Runs
 * no migration.
 *
 * @throws config_invalid for a malformed address; database_unusable if no server can be used.
 */
export async function openPostgresql(
  addressText: string,
  options: PostgresqlOptions = COMMAND_OPTIONS,
): Promise<PostgresqlDatabase> {
  const address = parseDatabaseAddress(addressText);
  const { shown } = address;
  const { connections: size, answerTimeoutMs = null } = options;
  const pool = { size, connectTimeoutMs: CONNECT_TIMEOUT_MS, answerTimeoutMs };
  const connections = createConnections(address, pool);
  const ofBatches = createConnections(address, { size: 1, connectTimeoutMs: BATCH_CONNECT_TIMEOUT_MS });
  const batches = createBatchConnection({ connections: ofBatches, shown, patienceMs: options.patienceMs });
  const { patienceMs, onSlowCommit = () => undefined } = options;
  const parts = { connections, shown, patienceMs, onSlowCommit };
  const beginRead = answerTimeoutMs === null ? BEGIN.read : boundedRead(answerTimeoutMs);
  let gate: Gate = () => undefined;
  const db: PostgresqlDatabase = {
    engine: "postgresql",
    name: shown,
    address,
    read: (work, gone) => runTransaction(gone === undefined ? parts : { ...parts, gone }, beginRead, work),
    async transaction(work) {
      await gate();
      return runTransaction(parts, BEGIN.durable, work);
    },
    relaxedTransaction: (work) => runTransaction(parts, BEGIN.relaxed, work),
    confirmReads: shareRuns(() => db.transaction(nothing)),
    withConnection: (work) => useConnection(parts, work),
    batches: {
      ...batches,
      transaction(work) {
        const waiting = gate();
        return waiting === undefined
          ? batches.transaction(work)
          : waiting.then(() => batches.transaction(work));
      },
    },
    guardCommits: (guard) => void (gate = guard),
    async close() {
      batches.close();
      await ofBatches.close();
      await connections.close();
    },
  };
  try {
    (await connections.take()).release();
    return db;
  } catch (error) {
    await db.close();
    throw error;
  }
}

async function useConnection<Result>(
  { connections, shown }: { readonly connections: Connections; readonly shown: string },
  work: (client: PoolClient) => Promise<Result>,
): Promise<Result> {
  const client = await connections.take();
  let isBroken = true;
  try {
    const result = await work(client);
    isBroken = false;
    return result;
  } catch (error) {
    throw translatePostgresqlError(error, shown);
  } finally {
    client.release(isBroken);
  }
}

function* nothing(): Steps<void> {
  yield* [];
}

/** The server ends a statement shortly before the caller gives up. */
function boundedRead(answerTimeoutMs: number): string {
  return `${BEGIN.read}; SET LOCAL statement_timeout = ${Math.ceil(0.95 * answerTimeoutMs)}`;
}

/** Runs a function at most once at a time. Calls during a run share the next run. */
function shareRuns(run: () => Promise<void>): () => Promise<void> {
  let running: Promise<unknown> = Promise.resolve();
  let next: Promise<void> | null = null;
  return () => {
    next ??= running.then(() => {
      const started = run();
      running = started.catch(() => undefined);
      next = null;
      return started;
    });
    return next;
  };
}
