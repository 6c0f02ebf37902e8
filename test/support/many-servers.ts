import type { ServerHere } from "./machine-database.ts";
import { makeMachine, type OperatorMachine } from "./operator-machine.ts";
import type { RunningServer } from "./running-server.ts";

/** Servers on one PostgreSQL database. They are processes of `serve`, or they run in the test's process. */
export interface ManyServers<Server extends RunningServer | ServerHere = RunningServer> {
  /** A machine whose commands work on the same database. */
  readonly machine: OperatorMachine;
  readonly servers: readonly Server[];
  /** Starts one more server. */
  start(): Promise<Server>;
  /** Ends every server. The database stays. */
  stop(): Promise<void>;
}

type Settings = Record<string, unknown>;

/**
 * Starts servers as processes, for `beforeAll`: the caller must stop them. @param settings the configuration, in addition to the database's
 * address; it has no limits but these
 */
export function startManyServers(address: string, count: number, settings?: Settings): Promise<ManyServers> {
  return startMany(address, count, settings, (machine) => machine.serve());
}

/** Starts servers in the test's own process, which is much faster. Use it if the test is not about processes. */
export function startManyHere(
  address: string,
  count: number,
  settings?: Settings,
): Promise<ManyServers<ServerHere>> {
  return startMany(address, count, settings, (machine) => machine.serveHere());
}

async function startMany<Server extends RunningServer | ServerHere>(
  address: string,
  count: number,
  settings: Settings = {},
  serve: (machine: OperatorMachine) => Promise<Server>,
): Promise<ManyServers<Server>> {
  const machine = makeMachine();
  machine.configure({ database: { url: address }, ...settings });
  const servers: Server[] = [];
  const start = async (): Promise<Server> => {
    const server = await serve(machine);
    servers.push(server);
    return server;
  };
  // The servers start one after the other, because the first one makes the tables of an empty database.
  for (let started = 0; started < count; started += 1) await start();
  return { machine, servers, start, stop: () => machine.remove() };
}
