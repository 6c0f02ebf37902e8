import { userInfo } from "node:os";
import type { z } from "zod";
import type { Config } from "../config/config.ts";
import type { AnyDatabase } from "../database/any-database.ts";
import type { Operation, Progress, StreamOperation } from "../operations/operation.ts";
import { type Door, perform, performStream } from "../operations/perform.ts";
import type { CommandContext } from "./command.ts";
import { letOthersWrite, withDatabase } from "./open.ts";

/** Runs an operation as whoever types the command. @param parts what it works with beside the database, if anything */
export type Perform = <Parts, Input extends z.ZodObject, Output extends z.ZodType>(
  operation: Operation<Parts, Input, Output>,
  input: z.input<Input>,
  ...parts: unknown extends Parts ? [] : [Parts]
) => Promise<z.output<Output>>;

/** What a command works with while its database is open. */
export interface Terminal {
  readonly perform: Perform;
  /** The same for an operation whose output comes in parts. */
  readonly stream: <Parts, Input extends z.ZodObject, Part extends z.ZodType>(
    operation: StreamOperation<Parts, Input, Part>,
    input: z.input<Input>,
    ...parts: unknown extends Parts ? [] : [Parts]
  ) => Promise<AsyncGenerator<z.output<Part>>>;
  readonly db: AnyDatabase;
  readonly config: Config;
}

/**
 * Opens the database for the length of `work`, which calls operations. A running server notices what they changed.
 *
 * @param open `withNewDatabase` for commands that a new installation begins with.
 * @throws as `open` does
 */
export function operate<Result>(
  context: CommandContext,
  work: (terminal: Terminal) => Result | Promise<Result>,
  open: typeof withDatabase<Result> = withDatabase,
): Promise<Result> {
  return open(context, (db, config) => {
    const door = doorOf(context, db, config);
    return work({
      perform: performer(context, db, config),
      stream: (operation, input, ...[parts]) =>
        performStream({ ...door(), parts: parts as never }, operation, input),
      db,
      config,
    });
  });
}

/** Runs operations as whoever types the command, on a database that is open. */
export function performer(context: CommandContext, db: AnyDatabase, config: Config): Perform {
  const door = doorOf(context, db, config);
  return (operation, input, ...[parts]) => perform({ ...door(), parts: parts as never }, operation, input);
}

function doorOf(
  { clock, output }: CommandContext,
  db: AnyDatabase,
  config: Config,
): () => Omit<Door<never>, "parts"> {
  const actor = { kind: "terminal", user: userName() } as const;
  const onProgress = ({ done, total }: Progress): Promise<void> => {
    output.progress(`${done}${total === null ? "" : ` of ${total}`} done`);
    return letOthersWrite();
  };
  const door = { db, config, actor, onChange: () => undefined, onProgress };
  return () => ({ ...door, now: clock.now() });
}

/** Null for a user that the system has no name for, like one that a container runs as. */
function userName(): string | null {
  try {
    return userInfo().username;
  } catch {
    return null;
  }
}
