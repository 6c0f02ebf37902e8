import { type Compilable, CompiledQuery } from "kysely";
import { numberParameters } from "./number-parameters.ts";

/** One statement of a transaction, and what it returns: every row, the first row or undefined, or the number of rows changed. */
export interface Statement {
  readonly gives: "rows" | "row" | "changes";
  readonly built: Built;
}

/** A statement that both engines understand, or one with its own text for PostgreSQL. */
export type Built<Row = unknown> = Compilable<Row> & {
  readonly postgresql?: string;
  /** The name under which each PostgreSQL connection prepares the statement once. */
  readonly name?: string;
};

/**
 * The work of a transaction, statement by statement. Steps can wait for rows and for nothing else: they contain no `await`. If another
 * transaction was in the way, the database may run them again from their start, so they must change nothing but rows.
 *
 * Write them as generator functions, and call one from another with `yield*`. `Database.transaction` and `Database.read` run them.
 */
export type Steps<Result> = Generator<Statement, Result, unknown>;

/** A statement as text that both engines understand, with `?` for each parameter. It costs less than a statement of the query builder. */
export function text<Row>(sql: string, ...parameters: unknown[]): Compilable<Row> {
  const compiled = CompiledQuery.raw(sql, parameters) as CompiledQuery<Row>;
  return { compile: () => compiled };
}

/**
 * A statement for PostgreSQL that runs all the time, and takes longer to plan than to run.
 *
 * @param name belongs to this text alone. @param sql has `:name` for each parameter, which may occur several times.
 */
export function prepared<Row>(
  name: string,
  sql: string,
  values: Readonly<Record<string, unknown>>,
): Built<Row> {
  const { sql: numbered, names } = numberParameters(sql);
  return { ...text<Row>(numbered, ...names.map((each) => values[each])), name };
}

/**
 * A statement with a different text for each engine. Both texts have the same parameters in the same order, and return the same columns.
 */
export function textByEngine<Row>(sql: TextsByEngine, ...parameters: unknown[]): Built<Row> {
  return { ...text<Row>(sql.sqlite, ...parameters), postgresql: sql.postgresql };
}

export type TextsByEngine = Readonly<Record<"sqlite" | "postgresql", string>>;

/** Makes the texts of a statement that differs between the engines only in some words. */
export function byEngine(sql: (engine: keyof TextsByEngine) => string): TextsByEngine {
  return { sqlite: sql("sqlite"), postgresql: sql("postgresql") };
}

/**
 * A statement in which SQLite must use the given index, because it does not see how few rows the index has. PostgreSQL counts rows, and
 * cannot be told.
 *
 * @param sql makes the statement; its argument must follow the name of the table.
 */
export function indexedBy(index: string, sql: (indexed: string) => string): TextsByEngine {
  return byEngine((engine) => sql(engine === "sqlite" ? `INDEXED BY ${index}` : ""));
}

/** Returns every row. */
export function* all<Row>(built: Built<Row>): Steps<Row[]> {
  return (yield { gives: "rows", built }) as Row[];
}

/** Returns the first row; undefined if there is none. */
export function* first<Row>(built: Built<Row>): Steps<Row | undefined> {
  return (yield { gives: "row", built }) as Row | undefined;
}

/** Runs a statement that returns no rows. Returns the number of rows changed. */
export function* run(built: Built): Steps<number> {
  return (yield { gives: "changes", built }) as number;
}

/** Runs code for one engine that has its own statements, inside the open transaction. */
export function* runNow<Result>(work: () => Result): Steps<Result> {
  yield* [];
  return work();
}

/**
 * Runs steps to their end without a pause, so that nothing else of this process comes between two statements. An error of a statement is
 * thrown into the steps, which may catch it.
 *
 * @param begun their first statement, if they have begun already.
 */
export function runSteps<Result>(
  steps: Steps<Result>,
  execute: (statement: Statement) => unknown,
  begun = steps.next(),
): Result {
  let step = begun;
  while (step.done !== true) {
    let answer: unknown;
    try {
      answer = execute(step.value);
    } catch (error) {
      step = steps.throw(error);
      continue;
    }
    step = steps.next(answer);
  }
  return step.value;
}

/** Continues steps whose first statement was taken already. */
export function* resumeSteps<Result>(steps: Steps<Result>, begun: Statement): Steps<Result> {
  let step: IteratorResult<Statement, Result> = { done: false, value: begun };
  while (step.done !== true) {
    let answer: unknown;
    try {
      answer = yield step.value;
    } catch (error) {
      step = steps.throw(error);
      continue;
    }
    step = steps.next(answer);
  }
  return step.value;
}
