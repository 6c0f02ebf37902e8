import { userInfo } from "node:os";
import type { Progress } from "../operations/operation.ts";
import { type Door, perform, performStream } from "../operations/perform.ts";
import type { CommandContext } from "./command.ts";
import { letOthersWrite, withDatabase } from "./open.ts";
import type { Here, Terminal, TerminalHere } from "./terminal.ts";

/**
 * Goes to the server that was chosen, or opens the database, for the length of `work`, which calls operations. A running server notices
 * what they changed.
 *
 * @param open `withNewDatabase` for commands that a new installation begins with.
 * @throws as `open` does
 */
export async function operate<Result>(
  context: CommandContext,
  work: (terminal: Terminal) => Result | Promise<Result>,
  open: typeof withDatabase<Result> = withDatabase,
): Promise<Result> {
  if (context.server !== null) {
    const { terminalAtDistance } = await import("./distant-terminal.ts");
    return work(terminalAtDistance(context.server, context.output));
  }
  return operateHere(context, work, open);
}

/** The same for commands that work beside the database only. @throws usage if a server was chosen */
export async function operateHere<Result>(
  context: CommandContext,
  work: (terminal: TerminalHere) => Result | Promise<Result>,
  open: typeof withDatabase<Result> = withDatabase,
): Promise<Result> {
  return open(context, (db, config) => work(terminalHere(context, { db, config })));
}

/** Runs operations as whoever types the command, on a database that is open. */
export function terminalHere(context: CommandContext, here: Here): TerminalHere {
  const door = doorOf(context, here);
  return {
    here,
    perform: async (operation, input, ...[make]) =>
      perform({ ...door(), parts: (await make?.(here)) as never }, operation, input),
    stream: async (operation, input, ...[make]) =>
      performStream({ ...door(), parts: (await make?.(here)) as never }, operation, input),
  };
}

function doorOf({ clock, output }: CommandContext, { db, config }: Here): () => Omit<Door<never>, "parts"> {
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
