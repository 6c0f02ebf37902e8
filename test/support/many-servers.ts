import { makeMachine, type OperatorMachine } from "./operator-machine.ts";
import type { RunningServer } from "./running-server.ts";

/** Processes of `serve` on one PostgreSQL database. */
export interface ManyServers {
  /** Its commands work on the database. */
  readonly machine: OperatorMachine;
  readonly servers: readonly RunningServer[];
  /** One more of them. */
  start(): Promise<RunningServer>;
  /** Ends every process; the database stays. */
  stop(): Promise<void>;
}

/** For `beforeAll`. @param settings of the configuration, in addition to the address; there are no limits but these */
export async function startManyServers(
  address: string,
  count: number,
  settings: Record<string, unknown> = {},
): Promise<ManyServers> {
  const machine = makeMachine();
  machine.configure({ database: { url: address }, ...settings });
  const servers: RunningServer[] = [];
  const start = async (): Promise<RunningServer> => {
    const server = await machine.serve();
    servers.push(server);
    return server;
  };
  // One after the other: the first one makes the tables of an empty database.
  for (let started = 0; started < count; started += 1) await start();
  return { machine, servers, start, stop: () => machine.remove() };
}
