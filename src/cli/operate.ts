import { userInfo } from "node:os";
import type { MaybeLater } from "../foundation/maybe-later.ts";
import type { Actor, Reach } from "../operations/actor.ts";
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
  work: (terminal: Terminal) => MaybeLater<Result>,
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
  work: (terminal: TerminalHere) => MaybeLater<Result>,
  open: typeof withDatabase<Result> = withDatabase,
): Promise<Result> {
  return open(context, (db, config) => work(terminalHere(context, { db, config })));
}

/** Runs operations on a database that is open, as whoever types the command, or as somebody who sees less. */
export function terminalHere(
  context: CommandContext,
  here: Here,
  actor: Actor = terminalActor(null),
): TerminalHere {
  const door = doorOf(context, here, actor);
  return {
    here,
    perform: async (operation, input, ...[make]) =>
      perform({ ...door(), parts: (await make?.(here)) as never }, operation, input),
    stream: async (operation, input, ...[make]) =>
      performStream({ ...door(), parts: (await make?.(here)) as never }, operation, input),
    bring: async (operation, input, source) => perform({ ...door(), parts: { source } }, operation, input),
  };
}

function doorOf(
  { clock, output }: CommandContext,
  { db, config }: Here,
  actor: Actor,
): () => Omit<Door<never>, "parts"> {
  const onProgress = ({ done, total }: Progress): Promise<void> => {
    output.progress(`${done}${total === null ? "" : ` of ${total}`} done`);
    return letOthersWrite(db);
  };
  const door = { db, config, actor, onChange: () => undefined, onProgress };
  return () => ({ ...door, now: clock.now() });
}

/** Whoever types the command. @param reach what they work with alone; null is everything */
export function terminalActor(reach: Reach | null): Actor {
  return { kind: "terminal", user: userName(), ...(reach && { reach }) };
}

/** Null for a user that the system has no name for, like one that a container runs as. */
function userName(): string | null {
  try {
    return userInfo().username;
  } catch {
    return null;
  }
}
