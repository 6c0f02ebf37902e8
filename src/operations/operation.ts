import type { z } from "zod";
import type { Change } from "../audit/audit-store.ts";
import type { Config } from "../config/config.ts";
import type { Database } from "../database/database.ts";
import type { Steps } from "../database/steps.ts";
import type { Access } from "./access.ts";
import type { Actor, Viewing } from "./actor.ts";

/**
 * Something that can be done, as a value. The command line, the dashboard, the API and the documentation use it: each makes the input and
 * shows the output in its own way. It is defined in the folder of the feature that owns its rows.
 */
export interface Operation<
  Parts = never,
  Input extends z.ZodObject = z.ZodObject,
  Output extends z.ZodType = z.ZodType,
> {
  /** A noun and a verb, like `endpoint.create`: the same everywhere, also in the record of changes. */
  readonly name: Change["action"];
  /** Begins with a verb, and has no full stop. */
  readonly summary: string;
  /** `danger` is a write that needs a person's confirmation. */
  readonly kind: "read" | "write" | "danger";
  readonly access: Access;
  /** Access that some inputs need too; `run` checks it. */
  readonly furtherAccess?: readonly Access[];
  /** Unknown members are refused. `run` checks limits that have messages of their own. */
  readonly input: Input;
  /** The output that `--json` prints. */
  readonly output: Output;
  run(
    context: Context<Parts>,
    input: z.output<Input>,
  ): Steps<unknown> | Promise<unknown> | AsyncGenerator<Progress, unknown>;
}

/**
 * A read whose output comes in parts. Each part is made only after the one before was taken, for example all submissions, or those that
 * come from now on.
 */
export interface StreamOperation<
  Parts = never,
  Input extends z.ZodObject = z.ZodObject,
  Part extends z.ZodType = z.ZodType,
> extends Omit<Operation<Parts, Input, Part>, "kind" | "run"> {
  readonly kind: "stream";
  /** The type of one part. */
  readonly output: Part;
  /** The promise rejects if the target does not exist, before the first part is asked for. */
  run(context: Context<Parts>, input: z.output<Input>): Promise<AsyncGenerator>;
}

/** An operation with any parts and types, for lists of operations. */
export type AnyOperation = Operation | StreamOperation;

/** What an operation runs with. */
export interface Context<Parts = unknown> {
  readonly db: Database;
  readonly config: Config;
  /** Milliseconds since 1970; the same time for everything that the operation does. */
  readonly now: number;
  readonly actor: Actor;
  /** What the actor may see. Rows are looked up with it, so that another account's rows are treated as if they did not exist. */
  readonly viewing: Viewing;
  /** The access that the operation needs in the workspace of the rows that it reaches. */
  readonly access: Access;
  /** What it works with besides the database, such as a keyring. */
  readonly parts: Parts;
  /** Aborted if nobody waits for the output any more; undefined if the caller always waits to the end. */
  readonly gone: AbortSignal | undefined;
  /**
   * Runs one of several transactions of an operation; it is durable when the promise resolves. The changes that the outcome names are
   * recorded in it.
   */
  readonly transact: <Result>(work: () => Steps<Outcome<Result>>) => Promise<Result>;
}

/** The result of a transaction that may have changed something. */
export interface Outcome<Output> {
  readonly output: Output;
  /** The changes to record; empty if nothing was changed. */
  readonly changes: readonly OwnChange[];
}

/** A change to record. The action is the operation's name unless another one is given. */
export interface OwnChange extends Omit<Change, "action"> {
  readonly action?: Change["action"];
}

/** How far a long operation is. Other processes may write between two reports. */
export interface Progress {
  readonly done: number;
  /** Null if it is not known. */
  readonly total: number | null;
}

/** The result of a transaction, with the changes to record in the same transaction. */
export function changed<Output>(output: Output, ...changes: readonly OwnChange[]): Outcome<Output> {
  return { output, changes };
}

interface Spec<Input extends z.ZodObject, Output extends z.ZodType> {
  readonly name: Change["action"];
  readonly summary: string;
  readonly access: Access;
  readonly furtherAccess?: readonly Access[];
  readonly input: Input;
  readonly output: Output;
}

interface ReadSpec<Parts, Input extends z.ZodObject, Output extends z.ZodType> extends Spec<Input, Output> {
  readonly kind: "read";
  /** Steps run over one state of the database; a promise or a generator reads as it goes. */
  readonly run: (
    context: Context<Parts>,
    input: z.output<Input>,
  ) => Steps<z.output<Output>> | Promise<z.output<Output>> | AsyncGenerator<Progress, z.output<Output>>;
}

interface WriteSpec<Parts, Input extends z.ZodObject, Output extends z.ZodType> extends Spec<Input, Output> {
  readonly kind: "write" | "danger";
  /** Steps run as one transaction. A promise or a generator makes its own transactions with {@link Context.transact}. */
  readonly run: (
    context: Context<Parts>,
    input: z.output<Input>,
  ) =>
    | Steps<Outcome<z.output<Output>>>
    | Promise<z.output<Output>>
    | AsyncGenerator<Progress, z.output<Output>>;
}

interface StreamSpec<Parts, Input extends z.ZodObject, Part extends z.ZodType> extends Spec<Input, Part> {
  readonly kind: "stream";
  readonly run: (
    context: Context<Parts>,
    input: z.output<Input>,
  ) => Promise<AsyncGenerator<z.output<Part>, void>>;
}

/** Returns the operation unchanged. It gives `run` the types that follow from input and output. */
export function operation<Parts, Input extends z.ZodObject, Part extends z.ZodType>(
  spec: StreamSpec<Parts, Input, Part>,
): StreamOperation<Parts, Input, Part>;
export function operation<Parts, Input extends z.ZodObject, Output extends z.ZodType>(
  spec: ReadSpec<Parts, Input, Output> | WriteSpec<Parts, Input, Output>,
): Operation<Parts, Input, Output>;
export function operation(spec: AnyOperation): AnyOperation {
  return spec;
}
