import type { ChildProcess } from "node:child_process";
import { writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import SqliteDatabase from "better-sqlite3";
import { onTestFinished } from "vitest";
import {
  createEndpoint,
  type Endpoint,
  type EndpointOptions,
  serveHere,
  type ServerHere,
  storedData,
} from "./machine-database.ts";
import { Distance, isAtDistance } from "./distance.ts";
import { memoryFolder } from "./memory-folder.ts";
import { collect, type ProcessOptions, type Ran, startProgram, whenEnded } from "./program.ts";
import { runHosted } from "./run-hosted.ts";
import { type RunningServer, watchServer } from "./running-server.ts";
import { makeFolder } from "./temporary-folder.ts";

/**
 * A folder in which the program runs as processes. The program is the bundle of the sources or, in some projects of the tests, the built
 * file.
 */
export interface OperatorMachine {
  readonly folder: string;
  readonly database: string;
  path(name: string): string;
  /** Writes a file and returns its path. A value that is not text is written as JSON. */
  write(name: string, content: unknown): string;
  /** Writes a configuration that has no limits but those in `settings`. */
  configure(settings: Record<string, unknown>): void;
  start(args: readonly string[], options?: ProcessOptions): ChildProcess;
  /** Starts a command here or through a server, as the project of the tests says. */
  begin(args: readonly string[], options?: ProcessOptions): Promise<ChildProcess>;
  /**
   * Runs a command in a process that has already run other commands, unless the options are about the process or another command is
   * running.
   */
  run(args: readonly string[], options?: ProcessOptions): Promise<Ran>;
  /** Like `run`, but fails the test unless the command exits with 0. */
  mustRun(args: readonly string[], options?: ProcessOptions): Promise<Ran>;
  /** Runs a command with `--json`, which must succeed, and returns what it prints. */
  json<Result = Record<string, unknown>>(args: readonly string[], options?: ProcessOptions): Promise<Result>;
  /** Makes an endpoint in the test's own process. */
  createEndpoint(made?: EndpointOptions): Promise<Endpoint>;
  /** Reads the data of an endpoint's submissions in the test's own process, oldest first. */
  stored(endpoint: Endpoint): Promise<Record<string, unknown>[]>;
  /** Starts a server process on a free port, and waits until it accepts posts. */
  serve(options?: ProcessOptions & { readonly args?: readonly string[] }): Promise<RunningServer>;
  /** Starts a server in the test's own process, which is much faster. Use it if the test is not about the process. */
  serveHere(): Promise<ServerHere>;
  /** Opens a connection for the test. */
  open(file?: string): SqliteDatabase.Database;
  /** Ends every server and process, and removes the folder. */
  remove(): Promise<void>;
}

const UNLIMITED = { monthlySubmissions: null, endpoints: null, customSpam: true };

/** Makes a machine whose configuration has no limits but those in `settings`. It is removed after the test. */
export function operatorMachine(settings: Record<string, unknown> = {}): OperatorMachine {
  const machine = emptyMachine();
  machine.configure(settings);
  return machine;
}

/** Like {@link operatorMachine}, but on a disk, for tests that depend on where the database is. */
export function machineOnDisk(settings: Record<string, unknown> = {}): OperatorMachine {
  const machine = emptyMachine(tmpdir());
  machine.configure(settings);
  return machine;
}

/**
 * Makes a machine with an empty folder, so that the program uses its own defaults. It is removed after the test.
 * @param parent the folder that contains it; if absent, one in memory
 */
export function emptyMachine(parent?: string): OperatorMachine {
  const machine = makeMachine(parent);
  onTestFinished(() => machine.remove());
  return machine;
}

/** Makes an {@link emptyMachine} for `beforeAll`: the caller must remove it. */
export function makeMachine(parent = memoryFolder()): OperatorMachine {
  const folder = makeFolder(parent);
  const path = (name: string): string => join(folder.path, name);
  const children: ChildProcess[] = [];
  const connections: SqliteDatabase.Database[] = [];
  const servers: ServerHere[] = [];
  const write: OperatorMachine["write"] = (name, content) => {
    writeFileSync(path(name), typeof content === "string" ? content : JSON.stringify(content));
    return path(name);
  };
  const start: OperatorMachine["start"] = (args, options) => {
    const child = startProgram(folder.path, args, options);
    children.push(child);
    return child;
  };
  const distance = new Distance(folder.path);
  const running = { url: null as string | null, isOld: false };
  const placed = async (args: readonly string[], options: ProcessOptions = {}): Promise<ProcessOptions> => {
    if (!isAtDistance) return options;
    if (running.isOld) await distance.leave();
    running.isOld = false;
    return { ...options, env: { ...options.env, ...(await distance.variables(args, running.url)) } };
  };
  const begin: OperatorMachine["begin"] = async (args, options) => start(args, await placed(args, options));
  const run: OperatorMachine["run"] = async (args, options) => {
    const there = await placed(args, options);
    return (await runHosted(folder.path, args, there)) ?? collect(start(args, there));
  };
  return {
    folder: folder.path,
    database: path("formsvc.db"),
    path,
    write,
    configure(settings) {
      write("formsvc.config.json", unlimitedBut(settings));
      running.isOld = true;
    },
    start,
    begin,
    ...runCommands(run),
    createEndpoint: (made) => createEndpoint(folder.path, made),
    stored: ({ id }) => storedData(folder.path, id),
    async serve({ args = [], ...options } = {}) {
      await distance.leave();
      const server = await watchServer(start(["serve", "--port", "0", ...args], options));
      running.url = server.url;
      void server.ended.then(() => (running.url = null));
      return server;
    },
    async serveHere() {
      await distance.leave();
      const server = await serveHere(folder.path);
      servers.push(server);
      running.url = server.url;
      const stop = (): Promise<void> => {
        running.url = null;
        return server.stop();
      };
      return { ...server, stop };
    },
    open(file = path("formsvc.db")) {
      const connection = new SqliteDatabase(file);
      connections.push(connection);
      return connection;
    },
    async remove() {
      for (const connection of connections) connection.close();
      await Promise.all([...servers.map((server) => server.stop()), distance.leave()]);
      for (const child of children) child.kill("SIGKILL");
      await Promise.all(children.map(whenEnded));
      folder.remove();
    },
  };
}

function unlimitedBut(settings: Record<string, unknown>): object {
  return {
    plans: { hobby: UNLIMITED },
    rateLimit: {
      publishable: { max: null },
      secret: { max: null },
      badKey: { max: null },
      ...(isAtDistance && { token: { max: null } }),
    },
    ...settings,
  };
}

function runCommands(run: OperatorMachine["run"]): Pick<OperatorMachine, "run" | "mustRun" | "json"> {
  const mustRun: OperatorMachine["mustRun"] = async (args, options) => {
    const ran = await run(args, options);
    if (ran.code !== 0) throw new Error(`${args.join(" ")}: exit ${ran.code}\n${ran.stderr}`);
    return ran;
  };
  return {
    run,
    mustRun,
    json: async <Result>(args: readonly string[], options?: ProcessOptions) =>
      (await mustRun([...args, "--json"], options)).json() as Result,
  };
}

export function modeOf(stats: { mode: number }): string {
  return (stats.mode & 0o777).toString(8);
}
