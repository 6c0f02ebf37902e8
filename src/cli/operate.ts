import { userInfo } from "node:os";
import type { z } from "zod";
import type { Config } from "../config/config.ts";
import type { AnyDatabase } from "../database/any-database.ts";
import type { Operation } from "../operations/operation.ts";
import { perform } from "../operations/perform.ts";
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
  return open(context, (db, config) => work({ perform: performer(context, db, config), db, config }));
}

/** Runs operations as whoever types the command, on a database that is open. */
export function performer({ clock }: CommandContext, db: AnyDatabase, config: Config): Perform {
  const actor = { kind: "terminal", user: userName() } as const;
  const door = { db, config, actor, onChange: () => undefined, onProgress: letOthersWrite };
  return (operation, input, ...[parts]) =>
    perform({ ...door, now: clock.now(), parts: parts as never }, operation, input);
}

/** Null for a user that the system has no name for, like one that a container runs as. */
function userName(): string | null {
  try {
    return userInfo().username;
  } catch {
    return null;
  }
}
