import type { Database } from "../database.ts";
import { type DatabaseAddress, parseDatabaseAddress } from "./address.ts";
import { type BatchConnection, createBatchConnection } from "./batch-connection.ts";
import { createConnections } from "./connections.ts";
import { translatePostgresqlError } from "./postgresql-error.ts";
import { type Steps } from "../steps.ts";
import { BEGIN, runTransaction } from "./run-transaction.ts";
import type { PoolClient } from "pg";

export interface PostgresqlOptions {
  /** The largest number of connections at a time. */
  readonly connections: number;
  /** How long a transaction is begun again while others are in its way, and a batch of posts while the server is away, in milliseconds. */
  readonly patienceMs: number;
  /** Longest wait for an answer to a statement, but for those of a batch; without it any answer is waited for. */
  readonly answerTimeoutMs?: number;
  /** Called when a commit, not that of a batch, has waited for three seconds. */
  readonly onSlowCommit?: () => void;
}

/** Longest wait for a connection, free or new. */
const CONNECT_TIMEOUT_MS = 10_000;
/** The same for a batch, whose posts wait for all that happens in ten seconds. */
const BATCH_CONNECT_TIMEOUT_MS = 3000;

/** A command does one thing after the other. */
export const COMMAND_OPTIONS: PostgresqlOptions = {
  connections: 2,
  patienceMs: 10_000,
};

/** A PostgreSQL database, for what only this engine has: its migrations, and copies to and from it. */
export interface PostgresqlDatabase extends Database {
  readonly engine: "postgresql";
  /** For connections beside its own. It holds the password. */
  readonly address: DatabaseAddress;
  /**
   * Hands a connection to `work`, for plain SQL. It is closed afterwards if `work` throws, so that nothing of a transaction that
   * was begun there is left.
   */
  withConnection<Result>(work: (client: PoolClient) => Promise<Result>): Promise<Result>;
  /** The connection for batches of posts; made when the first one comes. */
  readonly batches: BatchConnection;
  /** From now on `gate` is called before each durable transaction, that of a batch too. What it returns is waited for; it may throw. */
  guardCommits(gate: Gate): void;
  close(): Promise<void>;
}

type Gate = () => Promise<void> | undefined;

/**
 * Connects to the primary among the hosts of an address, and proves that its settings keep what was acknowledged. Runs no
 * migration.
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
    async withConnection(work) {
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
    },
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

function* nothing(): Steps<void> {
  yield* [];
}

/** Whoever waits for a statement gives up after this time, so the server ends it shortly before. */
function boundedRead(answerTimeoutMs: number): string {
  return `${BEGIN.read}; SET LOCAL statement_timeout = ${Math.ceil(0.95 * answerTimeoutMs)}`;
}

/** Whoever calls while a run goes on shares the next one, so that there is one at a time. */
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
