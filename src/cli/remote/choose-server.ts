import { readServerVariables } from "../../config/server-variables.ts";
import { FormsvcError } from "../../foundation/errors.ts";
import type { Contexts } from "./contexts.ts";
import { readContextsFile } from "./contexts-file.ts";

/** A server that a command works on, in place of the database of this machine. */
export interface ChosenServer {
  /** Scheme, host and port. */
  readonly origin: string;
  /** Null if nobody logged in. */
  readonly token: string | null;
}

export interface CommandTarget {
  /** Null for this machine. */
  readonly server: ChosenServer | null;
  /**
   * Why the contexts cannot be read, if only they would say where the command works; else null. It stops only commands that can work on a
   * server.
   */
  readonly contextsProblem: FormsvcError | null;
}

const THIS_MACHINE: CommandTarget = { server: null, contextsProblem: null };

/** The flags that were given with a command. */
interface Given {
  readonly server: string | null;
  readonly config: string | null;
  readonly db: string | null;
}

/**
 * Decides where a command works. The first that applies decides: `--server`; `--db` or `--config` (this machine); `FORMSVC_SERVER`; a
 * variable that names a database or a configuration (this machine); the context in use; this machine.
 *
 * @throws usage
 */
export async function chooseServer({ server, config, db }: Given): Promise<CommandTarget> {
  if (server !== null && db !== null)
    throw new FormsvcError("usage", "--server and --db name two places: give one of them");
  if (server === null && (db !== null || config !== null)) return THIS_MACHINE;
  const variables = readServerVariables();
  const ofVariable = variables.server === null ? null : readServerAddress(variables.server, "FORMSVC_SERVER");
  const origin = server ?? ofVariable;
  if (origin !== null) {
    // A token that is meant for one server is never sent to another.
    const isMeant = ofVariable === null || ofVariable === origin;
    const token = (isMeant ? variables.token : null) ?? (await tokenFor(origin));
    return { server: { origin, token }, contextsProblem: null };
  }
  return variables.namesDatabase ? THIS_MACHINE : chooseByContext();
}

async function chooseByContext(): Promise<CommandTarget> {
  try {
    const { in_use: used, contexts } = await loadContexts();
    const context = contexts.find(({ name }) => name === used);
    if (context === undefined) return THIS_MACHINE;
    return { server: { origin: context.server, token: context.token }, contextsProblem: null };
  } catch (error) {
    if (error instanceof FormsvcError) return { server: null, contextsProblem: error };
    throw error;
  }
}

/** The server of a command that can work on one; null for this machine. @throws usage if the contexts cannot be read */
export function serverOf({ server, contextsProblem }: CommandTarget): ChosenServer | null {
  if (contextsProblem !== null) throw contextsProblem;
  return server;
}

/** The token of the context for this server; if there are several, the token of the context in use. */
async function tokenFor(origin: string): Promise<string | null> {
  const { in_use: used, contexts } = await loadContexts();
  const fitting = contexts.filter(({ server }) => server === origin);
  return (fitting.find(({ name }) => name === used) ?? fitting[0])?.token ?? null;
}

/** Loads the module that parses the file only if there is a file, because it would delay the start of each command. */
async function loadContexts(): Promise<Contexts> {
  const found = readContextsFile();
  if (found === null) return { in_use: null, contexts: [] };
  const { parseContexts } = await import("./contexts.ts");
  return parseContexts(found);
}

/** Host names of this machine. A token may be sent to them over plain http. */
const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/** The origin of a server's address. @param source the flag or variable that gave the address @throws usage */
export function readServerAddress(text: string, source: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  const isAddress =
    url !== null && /^https?:$/.test(url.protocol) && url.origin === text.toLowerCase().replace(/\/$/, "");
  if (!isAddress)
    throw new FormsvcError("usage", `${source}: expected an address like https://forms.example.com`);
  if (url.protocol === "http:" && !LOOPBACK.test(url.hostname))
    throw new FormsvcError(
      "usage",
      `${source}: over http a token can be read on the way; give an address with https`,
    );
  return url.origin;
}
