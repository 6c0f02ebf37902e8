import pRetry from "p-retry";
import { DatabaseError, type PoolClient, type QueryResult } from "pg";
import type { Statement, Steps } from "../steps.ts";
import { type Cancelling, cancelWhenGone } from "./cancel-when-gone.ts";
import { type Connections, isPooled } from "./connections.ts";
import { lookUpListed } from "../list-parameter.ts";
import { numberMarks } from "../number-parameters.ts";
import { toParameter } from "./to-parameter.ts";
import {
  isConflict,
  isConnectionLost,
  isReadOnly,
  translatePostgresqlError,
  UnheardCommit,
} from "./postgresql-error.ts";
import { FormsvcError } from "../../foundation/errors.ts";
import { sendQuery } from "./send-query.ts";
import { WRITE_MARK_SQL } from "./write-mark.ts";

/**
 * The statements that begin transactions. Durable ones are serializable: their result is as if they had run alone, and one for which that
 * is impossible runs again. When they end, the standby also has what they read. Relaxed ones lock the rows that their decisions depend on,
 * because some run all the time. If a server vanishes in the middle of one, its locks must end soon.
 */
export const BEGIN = {
  read: "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
  durable: "BEGIN ISOLATION LEVEL SERIALIZABLE READ WRITE",
  relaxed:
    "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; SET LOCAL synchronous_commit = off; SET LOCAL idle_in_transaction_session_timeout = 5000",
} as const;

/** The shortest pause before a transaction is repeated, and the longest; each pause is twice as long as the one before. */
const FIRST_PAUSE_MS = 10;
const LONGEST_PAUSE_MS = 500;

export interface TransactionParts {
  readonly connections: Connections;
  /** The name of the database in messages. */
  readonly shown: string;
  /** Time for which a transaction is repeated while others are in its way, in milliseconds. */
  readonly patienceMs: number;
  /** Called when a commit has waited for three seconds. */
  readonly onSlowCommit: () => void;
  /** Ends a read, with the reason of the signal, when nobody waits for it any more. */
  readonly gone?: AbortSignal;
}

/** A commit that takes longer waits for a standby, or for a disk in trouble. */
const SLOW_COMMIT_MS = 3000;

/** Runs steps in one transaction. If another transaction was in the way, runs them again from their start. */
export async function runTransaction<Result>(
  parts: TransactionParts,
  begin: string,
  work: () => Steps<Result>,
): Promise<Result> {
  const isRead = begin.startsWith(BEGIN.read);
  try {
    return await pRetry(async () => runOnce(await parts.connections.take(), begin, work, parts), {
      retries: Number.POSITIVE_INFINITY,
      maxRetryTime: parts.patienceMs,
      minTimeout: FIRST_PAUSE_MS,
      maxTimeout: LONGEST_PAUSE_MS,
      // After equal pauses, two transactions would be in each other's way again.
      randomize: true,
      // If a read-only transaction writes, that is a defect and no sign of a standby.
      shouldRetry: ({ error }) => isConflict(error) || (!isRead && isReadOnly(error)),
    });
  } catch (error) {
    if (isRead && isReadOnly(error)) throw error;
    throw translatePostgresqlError(error, parts.shown);
  }
}

async function runOnce<Result>(
  client: PoolClient,
  begin: string,
  work: () => Steps<Result>,
  parts: TransactionParts,
): Promise<Result> {
  let broken: Error | boolean = false;
  let cancelling: Cancelling | undefined;
  try {
    parts.gone?.throwIfAborted();
    // Not awaited, because it is sent together with the first statement.
    const begun = client.query(begin);
    begun.catch(() => undefined);
    if (parts.gone !== undefined) cancelling = cancelWhenGone(client, parts.connections, parts.gone);
    const result = await runSteps(senderOver(client), work());
    await begun;
    parts.gone?.throwIfAborted();
    if (cancelling !== undefined) await cancelling.end();
    if (begin === BEGIN.durable) await commitMarked(client, parts);
    else await commit(client, parts);
    return result;
  } catch (error) {
    // A server that became a standby keeps its connections open, so this one is closed, and the next one is made to the primary.
    broken = isConnectionLost(error) || isReadOnly(error) || error instanceof UnheardCommit;
    if (await cancelling?.end()) broken = true;
    if (!broken) broken = await rollBack(client);
    parts.gone?.throwIfAborted();
    if (begin === BEGIN.durable && !broken && error instanceof FormsvcError) {
      broken = true;
      await confirm(client, parts);
      broken = false;
    }
    throw error;
  } finally {
    client.release(broken);
  }
}

/** Sends a statement in PostgreSQL's SQL. @param name a name under which it may be prepared. */
type SendStatement = (sql: string, parameters: unknown[], name?: string) => Promise<QueryResult>;

function senderOver(client: PoolClient): SendStatement {
  return (text, values, name) => {
    const isPrepared = name !== undefined && !isPooled(client);
    return sendQuery(client, { text, values, ...(isPrepared && { name }) });
  };
}

/**
 * Runs steps, one statement after the other. An error of a statement is thrown into the steps. It has ended the transaction, so the steps
 * cannot go on after it.
 */
export async function runSteps<Result>(send: SendStatement, steps: Steps<Result>): Promise<Result> {
  let step = steps.next();
  while (step.done !== true) {
    let answer: unknown;
    try {
      answer = await execute(send, step.value);
    } catch (error) {
      step = steps.throw(error);
      continue;
    }
    step = steps.next(answer);
  }
  return step.value;
}

async function execute(send: SendStatement, { gives, built }: Statement): Promise<unknown> {
  const { sql, parameters } = built.compile();
  const own = numberMarks(lookUpListed(built.postgresql ?? sql));
  const result = await send(own, parameters.map(toParameter), built.name);
  if (gives === "rows") return result.rows;
  return gives === "row" ? result.rows[0] : (result.rowCount ?? 0);
}

/** Returns true if the connection must not be used again. */
async function rollBack(client: PoolClient): Promise<boolean> {
  try {
    await client.query("ROLLBACK");
    return false;
  } catch {
    return true;
  }
}

/**
 * Commits together with a write mark. Without it, a transaction that changed nothing would not wait for the standby, although the standby
 * may lack what was read.
 */
function commitMarked(client: PoolClient, parts: TransactionParts): Promise<void> {
  client.query(WRITE_MARK_SQL).catch(() => undefined);
  return commit(client, parts);
}

/**
 * Confirms what a refused transaction read, because the refusal itself says something about the data: that something does not exist, or
 * exists already.
 */
async function confirm(client: PoolClient, parts: TransactionParts): Promise<void> {
  client.query("BEGIN").catch(() => undefined);
  await commitMarked(client, parts);
}

/**
 * Commits. A warning means that the server stopped waiting for a synchronous standby: the change was made here, and may be lost with this
 * machine.
 */
async function commit(client: PoolClient, { shown, onSlowCommit }: TransactionParts): Promise<void> {
  let warning: Error | undefined;
  // The text of a warning depends on the language of the server. The code 00000 is that of messages that are no warnings.
  const listen = ({ code, message }: Partial<Record<"code" | "message", string | undefined>>) => {
    if (code !== "00000") warning = new Error(message);
  };
  let command: string;
  const slow = setTimeout(onSlowCommit, SLOW_COMMIT_MS);
  client.on("notice", listen);
  try {
    ({ command } = await client.query("COMMIT"));
  } catch (error) {
    const isRolledBack = error instanceof DatabaseError && !isConnectionLost(error);
    throw isRolledBack ? error : unheard(shown, error);
  } finally {
    clearTimeout(slow);
    client.off("notice", listen);
  }
  if (warning !== undefined) throw unheard(shown, warning);
  if (command === "ROLLBACK") throw new Error("a statement failed and its error was not passed on");
}

function unheard(shown: string, cause: unknown): UnheardCommit {
  const message = `${shown}: the connection broke before the server said that the change is safe; look whether it was made before you try again`;
  return new UnheardCommit("database_unusable", message, { retryAfterSeconds: 5, cause });
}
