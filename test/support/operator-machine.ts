import type { ChildProcess } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import SqliteDatabase from "better-sqlite3";
import { onTestFinished } from "vitest";
import { exampleSchema } from "../../src/schemas/example-schema.ts";
import { collect, type ProcessOptions, type Ran, startProgram, whenEnded } from "./program.ts";
import { type RunningServer, watchServer } from "./running-server.ts";
import { makeFolder } from "./temporary-folder.ts";

export interface Endpoint {
  readonly id: string;
  readonly secret: string;
  readonly publishable: string;
}

export interface EndpointOptions {
  readonly name?: string;
  readonly schema?: object;
  readonly allowOrigin?: readonly string[];
  readonly workspace?: string;
  /** Flags of `endpoint set`. */
  readonly set?: readonly string[];
}

/** A folder of its own, and the program run in it as processes: from the sources or, in some projects, the built file. */
export interface OperatorMachine {
  readonly folder: string;
  readonly database: string;
  path(name: string): string;
  /** Writes a file, a value that is no text as JSON. Its path. */
  write(name: string, content: unknown): string;
  /** Writes a configuration without limits but for these settings. */
  configure(settings: Record<string, unknown>): void;
  start(args: readonly string[], options?: ProcessOptions): ChildProcess;
  run(args: readonly string[], options?: ProcessOptions): Promise<Ran>;
  /** Fails the test unless the command exits with 0. */
  mustRun(args: readonly string[], options?: ProcessOptions): Promise<Ran>;
  /** What a command that must succeed prints with `--json`. */
  json<Result = Record<string, unknown>>(args: readonly string[], options?: ProcessOptions): Promise<Result>;
  createEndpoint(made?: EndpointOptions): Promise<Endpoint>;
  /** The stored data of an endpoint's submissions, oldest first; 1000 at most. */
  stored(endpoint: Endpoint): Promise<Record<string, unknown>[]>;
  /** On a free port, ready to take posts. */
  serve(options?: ProcessOptions & { readonly args?: readonly string[] }): Promise<RunningServer>;
  /** A connection of the test's own. */
  open(file?: string): SqliteDatabase.Database;
  /** Ends every process and removes the folder. */
  remove(): Promise<void>;
}

const UNLIMITED = { monthlySubmissions: null, endpoints: null, customSpam: true };

/** A machine with a configuration without limits but for these settings; gone after the test. */
export function operatorMachine(settings: Record<string, unknown> = {}): OperatorMachine {
  const machine = emptyMachine();
  machine.configure(settings);
  return machine;
}

/** A machine with an empty folder, so that the program's own defaults hold; gone after the test. */
export function emptyMachine(): OperatorMachine {
  const machine = makeMachine();
  onTestFinished(() => machine.remove());
  return machine;
}

/** For `beforeAll`: an {@link emptyMachine} that the caller removes. */
export function makeMachine(): OperatorMachine {
  const folder = makeFolder();
  const path = (name: string): string => join(folder.path, name);
  const children: ChildProcess[] = [];
  const connections: SqliteDatabase.Database[] = [];
  const write: OperatorMachine["write"] = (name, content) => {
    writeFileSync(path(name), typeof content === "string" ? content : JSON.stringify(content));
    return path(name);
  };
  const start: OperatorMachine["start"] = (args, options) => {
    const child = startProgram(folder.path, args, options);
    children.push(child);
    return child;
  };
  const commands = runCommands(start);
  return {
    folder: folder.path,
    database: path("formsvc.db"),
    path,
    write,
    configure: (settings) => void write("formsvc.config.json", unlimitedBut(settings)),
    start,
    ...commands,
    ...workWithEndpoints(commands.json),
    serve: ({ args = [], ...options } = {}) => watchServer(start(["serve", "--port", "0", ...args], options)),
    open(file = path("formsvc.db")) {
      const connection = new SqliteDatabase(file);
      connections.push(connection);
      return connection;
    },
    async remove() {
      for (const connection of connections) connection.close();
      for (const child of children) child.kill("SIGKILL");
      await Promise.all(children.map(whenEnded));
      folder.remove();
    },
  };
}

function unlimitedBut(settings: Record<string, unknown>): object {
  return {
    plans: { hobby: UNLIMITED },
    rateLimit: { publishable: { max: null }, secret: { max: null }, badKey: { max: null } },
    ...settings,
  };
}

function runCommands(start: OperatorMachine["start"]): Pick<OperatorMachine, "run" | "mustRun" | "json"> {
  const run: OperatorMachine["run"] = (args, options) => collect(start(args, options));
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

function workWithEndpoints(
  json: OperatorMachine["json"],
): Pick<OperatorMachine, "createEndpoint" | "stored"> {
  return {
    async createEndpoint({ name = "Contact", schema = exampleSchema, ...made } = {}) {
      const flags = (made.allowOrigin ?? []).flatMap((origin) => ["--allow-origin", origin]);
      if (made.workspace !== undefined) flags.push("--workspace", made.workspace);
      const { endpoint, keys } = await json<{ endpoint: { id: string }; keys: Omit<Endpoint, "id"> }>(
        ["endpoint", "create", "--name", name, "--schema", "-", ...flags],
        { input: JSON.stringify(schema) },
      );
      if (made.set !== undefined) await json(["endpoint", "set", endpoint.id, ...made.set]);
      return { id: endpoint.id, ...keys };
    },
    async stored({ id }) {
      const list = ["submission", "list", "--endpoint", id, "--limit", "1000"];
      const { data } = await json<{ data: { data: Record<string, unknown> }[] }>(list);
      return data.map((submission) => submission.data).reverse();
    },
  };
}

export function modeOf(stats: { mode: number }): string {
  return (stats.mode & 0o777).toString(8);
}
