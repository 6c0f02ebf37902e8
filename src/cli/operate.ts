import { userInfo } from "node:os";
import type { MaybeLater } from "../foundation/maybe-later.ts";
import type { Actor, Reach } from "../operations/actor.ts";
import type { Progress } from "../operations/operation.ts";
import { type Door, perform, performStream } from "../operations/perform.ts";
import { serverOf } from "./remote/choose-server.ts";
import type { CommandContext } from "./command.ts";
import { letOthersWrite, withDatabase } from "./open.ts";
import type { Here, Terminal, TerminalHere } from "./output/terminal.ts";

/**
 * Runs `work`, which calls operations, on the chosen server or on the opened database. A running server notices the changes.
 *
 * @param open `withNewDatabase` for commands that a new installation begins with
 * @throws the errors of `open`
 */
export async function operate<Result>(
  context: CommandContext,
  work: (terminal: Terminal) => MaybeLater<Result>,
  open: typeof withDatabase<Result> = withDatabase,
): Promise<Result> {
  const server = serverOf(context);
  if (server !== null) {
    const { terminalAtDistance } = await import("./remote/distant-terminal.ts");
    return work(terminalAtDistance(server, context.output));
  }
  return operateHere(context, work, open);
}

/** Like {@link operate}, for commands that work only on the machine of the database. @throws usage if a server was chosen */
export async function operateHere<Result>(
  context: CommandContext,
  work: (terminal: TerminalHere) => MaybeLater<Result>,
  open: typeof withDatabase<Result> = withDatabase,
): Promise<Result> {
  return open(context, (db, config) => work(terminalHere(context, { db, config })));
}

/** Runs operations on an open database, as the person who types the command or as an actor who sees less. */
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

/** The person who types the command. @param reach the part that they may work with; null means everything */
export function terminalActor(reach: Reach | null): Actor {
  return { kind: "terminal", user: userName(), ...(reach && { reach }) };
}

/** Null for a user without a name in the system, like one that a container runs as. */
function userName(): string | null {
  try {
    return userInfo().username;
  } catch {
    return null;
  }
}
