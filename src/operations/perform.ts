import type { z } from "zod";
import { recordChange } from "../audit/audit-store.ts";
import type { Config } from "../config/config.ts";
import type { Database } from "../database/database.ts";
import type { MaybeLater } from "../foundation/maybe-later.ts";
import type { Steps } from "../database/steps.ts";
import type { Access } from "./access.ts";
import { type Actor, doerOf, requireAccess, viewingOf } from "./actor.ts";
import { readInput } from "./read-input.ts";
import type { AnyOperation, Context, Operation, Outcome, Progress, StreamOperation } from "./operation.ts";

/** What a door (the command line, the dashboard or the API) runs operations with. */
export interface Door<Parts> {
  readonly db: Database;
  readonly config: Config;
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly actor: Actor;
  readonly parts: Parts;
  /**
   * Called if something that is recorded may have been changed, also by an operation that failed midway; not called if the operation was
   * refused before that.
   *
   * @param kind `danger` may have deleted something.
   */
  readonly onChange: (kind: "write" | "danger") => MaybeLater<void>;
  /** Aborted if nobody waits for the output any more. */
  readonly gone?: AbortSignal;
  /** Called with the progress of a long operation, which goes on when the promise resolves. */
  readonly onProgress?: (progress: Progress) => Promise<void>;
  /** Further steps at the end of each transaction, inside it, with its output. */
  readonly onOutcome?: (output: unknown) => Steps<void>;
}

/** Steps at the beginning of the first transaction. If they throw, the operation ends before anything is changed. */
export type Guard = () => Steps<void>;

/**
 * Runs an operation: checks the actor's rights, then the input, then runs it, and records its changes in the transaction that makes them.
 *
 * @throws forbidden, invalid_request, what the operation throws, database_busy
 */
export async function perform<Parts, Input extends z.ZodObject, Output extends z.ZodType>(
  door: Door<Parts>,
  operation: Operation<Parts, Input, Output>,
  input: z.input<Input>,
  guard?: Guard,
): Promise<z.output<Output>> {
  requireAccess(door.actor, operation.access);
  const read = readInput(operation.input, input);
  let mayHaveChanged = false;
  const context = contextOf(door, operation, guard, () => (mayHaveChanged = true));
  try {
    return (await runIn(
      door,
      context,
      () => operation.run(context, read),
      operation.kind,
    )) as z.output<Output>;
  } finally {
    if (mayHaveChanged && operation.kind !== "read") await door.onChange(operation.kind);
  }
}

/**
 * Runs an operation whose output comes in parts. Rights, input and target are checked before the promise resolves.
 *
 * @throws as {@link perform}; while the parts are read, what the operation throws.
 */
export async function performStream<Parts, Input extends z.ZodObject, Part extends z.ZodType>(
  door: Door<Parts>,
  operation: StreamOperation<Parts, Input, Part>,
  input: z.input<Input>,
): Promise<AsyncGenerator<z.output<Part>>> {
  requireAccess(door.actor, operation.access);
  const context = contextOf(door, operation, undefined, () => undefined);
  const parts = await operation.run(context, readInput(operation.input, input));
  return parts as AsyncGenerator<z.output<Part>>;
}

/**
 * The output of an operation, as steps inside another operation's transaction. The rights of the actor are not checked.
 *
 * @param operation a read of one state of the database. @param access the access that the role in its workspace must have.
 * @throws invalid_request
 */
export function stepsOf<Parts, Input extends z.ZodObject, Output extends z.ZodType>(
  door: Door<Parts>,
  operation: Operation<Parts, Input, Output>,
  input: z.input<Input>,
  access: Access = operation.access,
): () => Steps<z.output<Output>> {
  const read = readInput(operation.input, input);
  const context = contextOf(door, { ...operation, access }, undefined, () => undefined);
  return () => operation.run(context, read) as Steps<z.output<Output>>;
}

/** Runs what `run` returned: steps run as one transaction or as one read; a promise and a generator make their own transactions. */
async function runIn(
  { db, onProgress }: Door<unknown>,
  context: Context,
  begin: () => Steps<unknown> | Promise<unknown> | AsyncGenerator<Progress, unknown>,
  kind: AnyOperation["kind"],
): Promise<unknown> {
  // A generator runs nothing before its first value is asked for, so the transaction can make it again.
  const work = begin();
  if (work instanceof Promise) return work;
  if (Symbol.iterator in work) {
    const steps = begin as () => Steps<unknown>;
    return kind === "read" ? db.read(steps) : context.transact(steps as () => Steps<Outcome<unknown>>);
  }
  let step = await work.next();
  while (step.done !== true) {
    await onProgress?.(step.value);
    step = await work.next();
  }
  return step.value;
}

/** @param onWrite called after each transaction that may have changed something, but not after one that its own steps ended. */
function contextOf<Parts>(
  { db, config, now, actor, parts, gone, onOutcome }: Door<Parts>,
  { name, access }: Pick<AnyOperation, "name" | "access">,
  guard: Guard | undefined,
  onWrite: () => void,
): Context<Parts> {
  const doer = doerOf(actor);
  let isGuarded = guard === undefined;
  return {
    db,
    config,
    now,
    actor,
    viewing: viewingOf(actor),
    access,
    parts,
    gone,
    async transact(work) {
      let isAtEnd = false;
      try {
        const result = await db.transaction(function* () {
          if (!isGuarded && guard !== undefined) yield* guard();
          const { output, changes } = yield* work();
          for (const change of changes) yield* recordChange(doer, { action: name, ...change }, now);
          if (onOutcome !== undefined) yield* onOutcome(output);
          isAtEnd = true;
          return output;
        });
        isGuarded = true;
        return result;
      } finally {
        // A commit that failed may have changed something all the same.
        if (isAtEnd) onWrite();
      }
    },
  };
}
