import type { z } from "zod";
import type { Change } from "../audit/audit-store.ts";
import type { Config } from "../config/config.ts";
import type { Database } from "../database/database.ts";
import type { Steps } from "../database/steps.ts";
import type { Access } from "./access.ts";
import type { Actor, Viewing } from "./actor.ts";

/**
 * One thing that can be done, as a value. The command line, the dashboard and the documentation are its doors: each makes the input,
 * and shows the output in its own way. It stands in the folder of the feature that owns its rows.
 */
export interface Operation<
  Parts = never,
  Input extends z.ZodObject = z.ZodObject,
  Output extends z.ZodType = z.ZodType,
> {
  /** Noun and verb, like `endpoint.create`: the same in every door and in the record of changes. */
  readonly name: Change["action"];
  /** Begins with a verb, without a full stop. */
  readonly summary: string;
  /** `danger` is a write that a person is asked about first. */
  readonly kind: "read" | "write" | "danger";
  readonly access: Access;
  /** What it needs too for some inputs, which `run` looks at. */
  readonly furtherAccess?: readonly Access[];
  /** Unknown members are refused. Limits that have messages of their own are checked in `run`. */
  readonly input: Input;
  /** What `--json` prints. */
  readonly output: Output;
  run(
    context: Context<Parts>,
    input: z.output<Input>,
  ): Steps<unknown> | Promise<unknown> | AsyncGenerator<Progress, unknown>;
}

/**
 * A read that gives its output in parts, each of which is made when the one before was taken: everything that was sent, or what comes
 * from now on.
 */
export interface StreamOperation<
  Parts = never,
  Input extends z.ZodObject = z.ZodObject,
  Part extends z.ZodType = z.ZodType,
> extends Omit<Operation<Parts, Input, Part>, "kind" | "run"> {
  readonly kind: "stream";
  /** One part. */
  readonly output: Part;
  /** The promise refuses what is not there, before the first part is asked for. */
  run(context: Context<Parts>, input: z.output<Input>): Promise<AsyncGenerator>;
}

/** An operation of whatever parts and types, for lists of them. */
export type AnyOperation = Operation | StreamOperation;

/** What an operation is run with. */
export interface Context<Parts = unknown> {
  readonly db: Database;
  readonly config: Config;
  /** Milliseconds; one time for all that it does. */
  readonly now: number;
  readonly actor: Actor;
  /** What the actor may see: with it rows are looked for, so that somebody else's is like none. */
  readonly viewing: Viewing;
  /** What the operation needs in the workspace of the rows that it reaches. */
  readonly access: Access;
  /** What it works with beside the database, such as a keyring. */
  readonly parts: Parts;
  /** Aborted when nobody waits for the output any more; undefined if somebody waits to the end. */
  readonly gone: AbortSignal | undefined;
  /**
   * One transaction of an operation that makes several, durable when the promise resolves. What the outcome says was changed is
   * recorded in it.
   */
  readonly transact: <Result>(work: () => Steps<Outcome<Result>>) => Promise<Result>;
}

/** The end of a transaction that may have changed something. */
export interface Outcome<Output> {
  readonly output: Output;
  /** None if nothing was changed. */
  readonly changes: readonly OwnChange[];
}

/** A change to be recorded; the action is the operation's name unless another is given. */
export interface OwnChange extends Omit<Change, "action"> {
  readonly action?: Change["action"];
}

/** How far long work is. Other processes may write between two of these. */
export interface Progress {
  readonly done: number;
  /** Null if it is not known. */
  readonly total: number | null;
}

/** What a transaction gives back, with what is to be recorded of it in the same transaction. */
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
  /** Steps are one transaction. A promise or a generator makes its own, by {@link Context.transact}. */
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

/** Gives `run` the types that follow from input and output; the operation itself is unchanged. */
export function operation<Parts, Input extends z.ZodObject, Part extends z.ZodType>(
  spec: StreamSpec<Parts, Input, Part>,
): StreamOperation<Parts, Input, Part>;
export function operation<Parts, Input extends z.ZodObject, Output extends z.ZodType>(
  spec: ReadSpec<Parts, Input, Output> | WriteSpec<Parts, Input, Output>,
): Operation<Parts, Input, Output>;
export function operation(spec: AnyOperation): AnyOperation {
  return spec;
}
