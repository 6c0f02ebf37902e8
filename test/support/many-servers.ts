import type { ServerHere } from "./machine-database.ts";
import { makeMachine, type OperatorMachine } from "./operator-machine.ts";
import type { RunningServer } from "./running-server.ts";

/** Servers on one PostgreSQL database: processes of `serve`, or the same in the test's process. */
export interface ManyServers<Server extends RunningServer | ServerHere = RunningServer> {
  /** Its commands work on the database. */
  readonly machine: OperatorMachine;
  readonly servers: readonly Server[];
  /** One more of them. */
  start(): Promise<Server>;
  /** Ends every server; the database stays. */
  stop(): Promise<void>;
}

type Settings = Record<string, unknown>;

/** For `beforeAll`. @param settings of the configuration, in addition to the address; there are no limits but these */
export function startManyServers(address: string, count: number, settings?: Settings): Promise<ManyServers> {
  return startMany(address, count, settings, (machine) => machine.serve());
}

/** The same in the test's own process, which is much faster: for a test that is not about processes. */
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
  // One after the other: the first one makes the tables of an empty database.
  for (let started = 0; started < count; started += 1) await start();
  return { machine, servers, start, stop: () => machine.remove() };
}
