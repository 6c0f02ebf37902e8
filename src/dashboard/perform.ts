import { setTimeout as sleep } from "node:timers/promises";
import type { z } from "zod";
import type { MaybeLater } from "../foundation/maybe-later.ts";
import type { Actor } from "../operations/actor.ts";
import type { Operation, Progress, StreamOperation } from "../operations/operation.ts";
import { type Guard, perform, performStream } from "../operations/perform.ts";
import type { Viewer } from "../sessions/session.ts";
import type { Answer } from "./answer.ts";
import type { DashboardParts } from "./parts.ts";

/** Thrown by a guard to stop an operation. Nothing was changed. It makes the answer that says why. */
export class Stopped extends Error {
  readonly answer: () => MaybeLater<Answer>;

  constructor(answer: Stopped["answer"]) {
    super("stopped before anything was changed");
    this.answer = answer;
  }
}

/** Pause between two transactions of long work, in which posts can be stored. */
const PAUSE_MS = 2;

/**
 * Runs an operation as the viewer. The running server applies the change at once.
 *
 * @param guard runs in the transaction before the change; it checks what the form was made from, and throws {@link Stopped} to stop
 */
export type Perform<Parts = DashboardParts> = <Input extends z.ZodObject, Output extends z.ZodType>(
  operation: Operation<Parts, Input, Output>,
  input: z.input<Input>,
  guard?: Guard,
) => Promise<z.output<Output>>;

/** Like {@link Perform}, for an operation whose output comes in parts. */
export type Stream<Parts = DashboardParts> = <Input extends z.ZodObject, Part extends z.ZodType>(
  operation: StreamOperation<Parts, Input, Part>,
  input: z.input<Input>,
) => Promise<AsyncGenerator<z.output<Part>>>;

/** Like {@link Perform}, for an operation that needs more parts and reports its progress. If `onProgress` throws, the operation ends. */
export type PerformWith<Parts = DashboardParts> = <
  More extends object,
  Input extends z.ZodObject,
  Output extends z.ZodType,
>(
  more: { readonly parts: More; readonly onProgress: (progress: Progress) => void },
  operation: Operation<Parts & More, Input, Output>,
  input: z.input<Input>,
) => Promise<z.output<Output>>;

/** The ways to run an operation for one request. */
export function performers<Parts extends DashboardParts>(
  parts: Parts,
  { viewer, now, gone }: { readonly viewer: Viewer | null; readonly now: number; readonly gone: AbortSignal },
): {
  readonly perform: Perform<Parts>;
  readonly performWith: PerformWith<Parts>;
  readonly stream: Stream<Parts>;
} {
  const { db, config, onChange } = parts;
  const actor: Actor = viewer === null ? { kind: "visitor" } : { kind: "account", ...viewer };
  const onProgress = (): Promise<void> => sleep(PAUSE_MS);
  const door = { db, config, now, actor, parts, onChange, onProgress, gone };
  return {
    perform: (operation, input, guard) => perform(door, operation, input, guard),
    performWith: (more, operation, input) =>
      perform(
        {
          ...door,
          parts: { ...parts, ...more.parts },
          onProgress: (progress) => {
            more.onProgress(progress);
            return sleep(PAUSE_MS);
          },
        },
        operation,
        input,
      ),
    stream: (operation, input) => performStream(door, operation, input),
  };
}
