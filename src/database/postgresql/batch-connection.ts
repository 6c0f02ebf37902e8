import pRetry from "p-retry";
import type { PoolClient, QueryConfig, QueryResult } from "pg";
import { FormsvcError } from "../../foundation/errors.ts";
import type { Steps } from "../steps.ts";
import { type Connections, isPooled } from "./connections.ts";
import {
  isConnectionLost,
  isPassing,
  isReadOnly,
  translatePostgresqlError,
  UnheardCommit,
} from "./postgresql-error.ts";
import { runSteps } from "./run-transaction.ts";
import { sendQuery } from "./send-query.ts";
import { WRITE_MARK_SQL } from "./write-mark.ts";

/** A statement of a batch, in PostgreSQL's SQL. Each connection prepares it once, under its name. */
export interface BatchStatement {
  readonly name: string;
  readonly text: string;
}

export interface BatchTransaction {
  /**
   * Whether an earlier attempt may have been committed. Then `work` must look, behind its locks, what is stored already. This attempt
   * always writes something, so that its commit waits for the standby as the earlier one should have done.
   */
  readonly isRetry: boolean;
  /** Sends a statement. Statements that are sent before one of them is awaited go in one round trip. */
  query<Row>(statement: BatchStatement, ...values: readonly unknown[]): Promise<Row[]>;
  /** Runs steps, with one round trip for each statement. What they read can change before the commit, unless it is locked. */
  run<Result>(steps: Steps<Result>): Promise<Result>;
  /** Commits. Call it once, at the end; it may be sent together with the last statements. */
  commit(): Promise<void>;
}

/** The connection on which a server stores posts. It is used for nothing else, and runs one batch at a time. */
export interface BatchConnection {
  /**
   * Runs `work` in one READ COMMITTED transaction, durable when the promise resolves. It runs again if the server does not answer or other
   * transactions are in the way. So `work` must make its decisions behind locks.
   *
   * @throws database_unusable if that takes too long: then it is unknown whether the last attempt was committed.
   */
  transaction<Result>(work: (transaction: BatchTransaction) => Promise<Result>): Promise<Result>;
  close(): void;
}

export interface BatchConnectionParts {
  readonly connections: Connections;
  /** The name of the database in messages. */
  readonly shown: string;
  /** Time for which a batch is tried again, in milliseconds. */
  readonly patienceMs: number;
}

/** If a server has not answered for this time, its connection is closed and the batch is sent again over another one. */
const SILENCE_MS = 4000;
/** The first and the longest pause between attempts; each pause is twice as long as the one before. */
const FIRST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 500;

/**
 * Settings of a session. Nothing may end a statement or a commit early, because a commit whose wait for the standby was cancelled looks
 * like a successful one. If our server vanishes in the middle of a batch, its locks must end soon. Warnings must arrive.
 */
const SETTINGS: readonly string[] = [
  "statement_timeout = 0",
  "lock_timeout = 0",
  "idle_in_transaction_session_timeout = 3000",
  "tcp_user_timeout = 5000",
  "tcp_keepalives_idle = 5",
  "tcp_keepalives_interval = 2",
  "tcp_keepalives_count = 3",
  "client_min_messages = warning",
];
/** Ends a wait for a lock if nobody waits for the answer any more. PostgreSQL does not have this setting on some systems. */
const CHECK_CLIENT_SQL = "SET client_connection_check_interval = 2000";

const BEGIN_SQL = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE";
/** Behind a pooler each transaction may have another session, so the settings are sent with each one. */
const BEGIN_POOLED_SQL = [BEGIN_SQL, ...SETTINGS.map((setting) => `SET LOCAL ${setting}`)].join("; ");

/** A connection that is kept from batch to batch. */
interface KeptConnection {
  readonly client: PoolClient;
  /** Whether there is a pooler in between, so that prepared statements and settings of a session cannot be used. */
  readonly isPooled: boolean;
  isOver: boolean;
}

export function createBatchConnection({
  connections,
  shown,
  patienceMs,
}: BatchConnectionParts): BatchConnection {
  let kept: KeptConnection | null = null;
  let isBusy = false;
  const drop = (connection: KeptConnection): void => {
    if (kept === connection) kept = null;
    // Closes the socket, because the driver would wait for outstanding answers.
    connection.client.connection.stream.destroy();
    connection.client.release(true);
  };
  const take = async (): Promise<KeptConnection> => {
    if (kept?.isOver === true) drop(kept);
    kept ??= await prepare(await connections.take());
    return kept;
  };
  return {
    async transaction(work) {
      if (isBusy) throw new Error("one batch at a time");
      isBusy = true;
      const endsAt = performance.now() + patienceMs;
      let isRetry = false;
      const attempt = async () => {
        const connection = await take();
        const again = isRetry;
        isRetry = true;
        return await runOnce(connection, { work, isRetry: again, endsAt, shown, drop });
      };
      try {
        return await pRetry(attempt, {
          retries: Number.POSITIVE_INFINITY,
          maxRetryTime: patienceMs,
          minTimeout: FIRST_PAUSE_MS,
          maxTimeout: LONGEST_PAUSE_MS,
          randomize: true,
          shouldRetry: ({ error }) => isPassing(error),
        });
      } catch (error) {
        throw asUnusable(translatePostgresqlError(error, shown));
      } finally {
        isBusy = false;
      }
    },
    close() {
      kept?.client.release();
      kept = null;
    },
  };
}

/**
 * Turns `database_busy` into `database_unusable`. After `database_busy` the caller would send the batch again as a first attempt, although
 * this one may have been committed.
 */
function asUnusable(error: unknown): unknown {
  if (!(error instanceof FormsvcError) || error.code !== "database_busy") return error;
  return new FormsvcError("database_unusable", error.message, { retryAfterSeconds: 5, cause: error });
}

async function prepare(client: PoolClient): Promise<KeptConnection> {
  const connection = { client, isPooled: isPooled(client), isOver: false };
  client.once("end", () => (connection.isOver = true));
  if (connection.isPooled) return connection;
  const send = createSender(connection, SILENCE_MS);
  try {
    await send(SETTINGS.map((setting) => `SET ${setting}`).join("; "));
    await send(CHECK_CLIENT_SQL).catch((error: unknown) => {
      if (isConnectionLost(error)) throw error;
    });
    return connection;
  } catch (error) {
    client.release(true);
    throw error;
  }
}

interface Attempt<Result> {
  readonly work: (transaction: BatchTransaction) => Promise<Result>;
  readonly isRetry: boolean;
  /** The end of the attempt, by `performance.now()`. */
  readonly endsAt: number;
  readonly shown: string;
  readonly drop: (connection: KeptConnection) => void;
}

async function runOnce<Result>(connection: KeptConnection, attempt: Attempt<Result>): Promise<Result> {
  const send = createSender(connection, Math.min(SILENCE_MS, attempt.endsAt - performance.now()));
  let isOver = false;
  try {
    const begun = send(connection.isPooled ? BEGIN_POOLED_SQL : BEGIN_SQL);
    // The error is passed on by a later statement that is awaited.
    begun.catch(() => undefined);
    const result = await attempt.work({
      isRetry: attempt.isRetry,
      async query<Row>({ name, text }: BatchStatement, ...values: readonly unknown[]) {
        const sent = send(
          connection.isPooled ? { text, values: [...values] } : { name, text, values: [...values] },
        );
        sent.catch(() => undefined);
        await begun;
        return (await sent).rows as Row[];
      },
      run: (steps) => runSteps((text, values) => send({ text, values }), steps),
      async commit() {
        if (attempt.isRetry) send(WRITE_MARK_SQL).catch(() => undefined);
        await commit(connection, send, attempt.shown);
        isOver = true;
      },
    });
    if (!isOver) throw new Error("a batch was not committed");
    return result;
  } catch (error) {
    const isLost = error instanceof UnheardCommit || isConnectionLost(error) || isReadOnly(error);
    if (isLost || !(await rollBack(send))) attempt.drop(connection);
    throw error;
  }
}

type Send = (query: string | QueryConfig) => Promise<QueryResult>;

/**
 * Returns a function that sends statements. Those of one turn of the event loop go in one piece. If the server does not answer in time, the
 * connection is closed.
 */
function createSender({ client }: KeptConnection, silenceMs: number): Send {
  const { stream } = client.connection;
  let awaited = 0;
  let silence: NodeJS.Timeout | undefined;
  let isCorked = false;
  const gather = (): void => {
    if (isCorked) return;
    isCorked = true;
    stream.cork();
    process.nextTick(() => {
      isCorked = false;
      stream.uncork();
    });
  };
  return async (query) => {
    gather();
    awaited += 1;
    if (awaited === 1) silence = setTimeout(() => stream.destroy(), Math.max(silenceMs, 1));
    try {
      return await sendQuery(client, query);
    } finally {
      awaited -= 1;
      if (awaited === 0) clearTimeout(silence);
      else silence?.refresh();
    }
  };
}

/** Commits. A warning means that the server stopped waiting for a synchronous standby. Its text depends on the language of the server. */
async function commit({ client }: KeptConnection, send: Send, shown: string): Promise<void> {
  let warning: Error | undefined;
  const listen = ({ message }: { readonly message?: string | undefined }): void => {
    warning = new Error(message);
  };
  client.on("notice", listen);
  let command: string;
  try {
    ({ command } = await send("COMMIT"));
  } finally {
    client.off("notice", listen);
  }
  if (warning !== undefined) {
    const message = `${shown}: the server stopped waiting for its standby`;
    throw new UnheardCommit("database_unusable", message, { retryAfterSeconds: 5, cause: warning });
  }
  if (command !== "COMMIT") throw new Error("a statement failed and its error was not passed on");
}

/** Returns whether the connection can be used again. */
async function rollBack(send: Send): Promise<boolean> {
  try {
    await send("ROLLBACK");
    return true;
  } catch {
    return false;
  }
}
