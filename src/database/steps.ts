import { type Compilable, CompiledQuery } from "kysely";
import { numberParameters } from "./number-parameters.ts";

/** One statement of a transaction, and what it gives back: every row, the first row or undefined, or the number of rows changed. */
export interface Statement {
  readonly gives: "rows" | "row" | "changes";
  readonly built: Built;
}

/** A statement in words that both engines know, or else in those of each. */
export type Built<Row = unknown> = Compilable<Row> & {
  readonly postgresql?: string;
  /** Under it PostgreSQL prepares the statement once a connection. */
  readonly name?: string;
};

/**
 * What a transaction does, statement by statement. Steps can wait for rows and for nothing else: they contain no
 * `await`. A database may run them again from their start when another transaction was in the way, so they change
 * nothing but rows.
 *
 * Write them as generator functions, and call one from another with `yield*`. `Database.transaction` and
 * `Database.read` run them.
 */
export type Steps<Result> = Generator<Statement, Result, unknown>;

/** A statement written out, with `?` for each parameter: it costs less than one that is built, and both engines know it. */
export function text<Row>(sql: string, ...parameters: unknown[]): Compilable<Row> {
  const compiled = CompiledQuery.raw(sql, parameters) as CompiledQuery<Row>;
  return { compile: () => compiled };
}

/**
 * A statement of PostgreSQL's that runs all the time, and takes longer to plan than to run.
 *
 * @param name unique for its text. @param sql with `:name` for each parameter, as often as it is needed.
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
 * A statement that the engines cannot have in common. Both texts take the same parameters in the same order, and give the same
 * columns.
 */
export function textByEngine<Row>(sql: TextsByEngine, ...parameters: unknown[]): Built<Row> {
  return { ...text<Row>(sql.sqlite, ...parameters), postgresql: sql.postgresql };
}

export type TextsByEngine = Readonly<Record<"sqlite" | "postgresql", string>>;

/** The same statement with another word in it for each engine. */
export function byEngine(sql: (engine: keyof TextsByEngine) => string): TextsByEngine {
  return { sqlite: sql("sqlite"), postgresql: sql("postgresql") };
}

/**
 * The texts of a statement for which SQLite is told an index: it would not see how few rows that one has. PostgreSQL counts its rows, and
 * cannot be told.
 *
 * @param sql the statement; what it is given stands behind the table's name.
 */
export function indexedBy(index: string, sql: (indexed: string) => string): TextsByEngine {
  return byEngine((engine) => sql(engine === "sqlite" ? `INDEXED BY ${index}` : ""));
}

/** Every row. */
export function* all<Row>(built: Built<Row>): Steps<Row[]> {
  return (yield { gives: "rows", built }) as Row[];
}

/** The first row, or undefined when there is none. */
export function* first<Row>(built: Built<Row>): Steps<Row | undefined> {
  return (yield { gives: "row", built }) as Row | undefined;
}

/** Runs a statement that returns no rows. Returns the number of rows changed. */
export function* run(built: Built): Steps<number> {
  return (yield { gives: "changes", built }) as number;
}

/** Work of a part that is written for one engine and has its own statements: it takes place in the transaction that is open. */
export function* runNow<Result>(work: () => Result): Steps<Result> {
  yield* [];
  return work();
}

/**
 * Runs steps to their end without a pause, so that nothing else of this process comes between two statements. An error
 * of a statement is thrown into the steps, which may catch it.
 *
 * @param begun their first statement, if they were begun already.
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

/** The rest of steps whose first statement was taken already. */
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
