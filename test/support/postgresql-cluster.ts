import { type ChildProcess, execFile, spawn } from "node:child_process";
import { chownSync, existsSync, readdirSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Writable } from "node:stream";
import { promisify } from "node:util";
import { Client } from "pg";
import { parseDatabaseAddress } from "../../src/database/postgresql/address.ts";
import { copyNewCluster } from "./new-cluster.ts";
import { memoryFolder } from "./memory-folder.ts";
import { makeFolder } from "./temporary-folder.ts";
import { until } from "./until.ts";

const run = promisify(execFile);

const DEBIAN = "/usr/lib/postgresql";
/** The password contains characters that must be escaped in an address. */
const PASSWORD = "a/b@c:d%e";
export const CLUSTER_USER = "formsvc";
/** The user id of `nobody`. PostgreSQL refuses to run as root, so it runs as this user if the tests run as root. */
export const NOBODY = 65_534;

/** The folder of PostgreSQL's programs: the newest version of Debian, or else the one in the PATH; null if it is not installed. */
export function findPostgresql(): string | null {
  const ofDebian = existsSync(DEBIAN)
    ? readdirSync(DEBIAN)
        .toSorted((one, other) => Number(other) - Number(one))
        .map((version) => join(DEBIAN, version, "bin"))
    : [];
  const inPath = (process.env["PATH"] ?? "").split(":").filter((folder) => folder !== "");
  return [...ofDebian, ...inPath].find((folder) => existsSync(join(folder, "initdb"))) ?? null;
}

export interface Cluster {
  /** The folder that contains the cluster's socket. */
  readonly folder: string;
  readonly port: number;
  /** Returns the address of one of the cluster's databases, over the socket. */
  address(database: string): string;
  /** Kills every process of the cluster with `kill -9`. Its data stay as they are. */
  kill(): Promise<void>;
  /** Starts the cluster on the same data and port, after {@link kill}. */
  restart(): Promise<void>;
  /** Ends the cluster and removes its data. */
  stop(): Promise<void>;
}

export interface ClusterOptions {
  /** Settings like `fsync=off`, in addition to those in the cluster's configuration file. */
  readonly settings?: readonly string[];
  /** Whether the cluster also listens on the loopback address. */
  readonly tcp?: boolean;
  /** Whether the cluster starts as a standby that has no primary. */
  readonly standby?: boolean;
  /** Files to write into the folder of the data, by name. */
  readonly files?: Readonly<Record<string, string>>;
}

/** Makes a cluster in a temporary folder and starts it. */
export function startCluster(options: ClusterOptions = {}): Promise<Cluster> {
  return startIn(options, async (data, { programs, runTool, write }) => {
    const making = ["-N", "-E", "UTF8", "--locale=C", "-U", CLUSTER_USER, "-A", "scram-sha-256"];
    await copyNewCluster(data, join(programs, "initdb"), making, () => {
      const password = write(join(data, "../password"), PASSWORD);
      return runTool("initdb", [...making, "-D", data, `--pwfile=${password}`]);
    });
    if (options.standby === true) write(join(data, "standby.signal"), "");
  });
}

/** Starts a standby of a running cluster, whose data it copies and then follows. */
export function startStandby(primary: Cluster, options: ClusterOptions = {}): Promise<Cluster> {
  const source = ["-h", primary.folder, "-p", String(primary.port), "-U", CLUSTER_USER];
  return startIn(options, (data, { runTool }) =>
    runTool("pg_basebackup", ["-D", data, "-R", "-X", "stream", "-c", "fast", "--no-sync", ...source]),
  );
}

/** The address of a database on the loopback address. Clients use the first of these ports at which a primary listens. */
export function tcpAddress(ports: readonly number[], database = "postgres"): string {
  const hosts = ports.map((port) => `127.0.0.1:${port}`).join(",");
  return `postgresql://${CLUSTER_USER}:${encodeURIComponent(PASSWORD)}@${hosts}/${database}`;
}

interface Place {
  /** The folder of PostgreSQL's programs. */
  readonly programs: string;
  /** Runs one of PostgreSQL's programs to its end, as the user of the server. */
  readonly runTool: (name: string, args: readonly string[]) => Promise<void>;
  /** Writes a file that the server may read, and returns its path. */
  readonly write: (path: string, content: string) => string;
}

type User = { readonly uid: number; readonly gid: number } | Record<string, never>;

/** Starts a cluster. @param fill makes the folder of the data, which does not exist yet */
async function startIn(
  options: ClusterOptions,
  fill: (data: string, place: Place) => Promise<void>,
): Promise<Cluster> {
  const programs = findPostgresql();
  if (programs === null) throw new Error("PostgreSQL is not installed");
  const folder = makeFolder(memoryFolder());
  const data = join(folder.path, "data");
  const user: User = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
  const write: Place["write"] = (path, content) => {
    writeFileSync(path, content, { mode: 0o600 });
    if (user.uid !== undefined) chownSync(path, NOBODY, NOBODY);
    return path;
  };
  if (user.uid !== undefined) chownSync(folder.path, NOBODY, NOBODY);
  const env = { ...process.env, PGPASSWORD: PASSWORD };
  const runTool: Place["runTool"] = async (name, args) =>
    void (await run(join(programs, name), [...args], { ...user, env, cwd: folder.path }));
  await fill(data, { programs, runTool, write });
  for (const [name, content] of Object.entries(options.files ?? {})) write(join(data, name), content);
  const listen = options.tcp === true ? "127.0.0.1" : "";
  const own = [
    `listen_addresses=${listen}`,
    `unix_socket_directories=${folder.path}`,
    "shared_buffers=32MB",
    // In the cluster's folder, so that a killed cluster leaves nothing in the memory of the system.
    "dynamic_shared_memory_type=mmap",
  ];
  const settings = [...own, ...(options.settings ?? [])].flatMap((each) => ["-c", each]);
  const start = (port: number): Promise<ChildProcess> =>
    startServer([join(programs, "postgres"), "-D", data, "-p", String(port), ...settings], user, folder.path);
  const [port, first] = options.tcp === true ? await startOnFreePort(start) : [5432, await start(5432)];
  let server = first;
  return {
    folder: folder.path,
    port,
    address: (database) =>
      `postgresql://${CLUSTER_USER}:${encodeURIComponent(PASSWORD)}@:${port}/${database}?host=${folder.path}`,
    kill: () => killWithChildren(server),
    async restart() {
      server = await start(port);
    },
    async stop() {
      await end(server);
      folder.remove();
    },
  };
}

/**
 * A shell script that replaces itself by the command in its arguments and leaves a watcher beside it. The watcher reads from a pipe of this
 * process. A line means that the command has ended. If the pipe ends without a line, this process was killed; then the watcher ends the
 * command.
 */
const NO_LONGER_THAN_THIS_PROCESS = '{ read -r _ <&3 || kill -QUIT $$; } & exec "$@" 3<&-';

/** Starts a server process, and resolves when it accepts connections. */
async function startServer(command: readonly string[], user: User, cwd: string): Promise<ChildProcess> {
  const server = spawn("sh", ["-c", NO_LONGER_THAN_THIS_PROCESS, "sh", ...command], {
    ...user,
    cwd,
    stdio: ["ignore", "ignore", "pipe", "pipe"],
  });
  const watch = server.stdio[3] as Writable;
  // The watcher may have been killed too.
  watch.on("error", () => undefined);
  server.once("exit", () => watch.end("ended\n"));
  await readiness(server);
  return server;
}

async function startOnFreePort(
  start: (port: number) => Promise<ChildProcess>,
): Promise<[number, ChildProcess]> {
  // Another process may take the free port before the server does.
  for (let tries = 1; ; tries += 1) {
    const port = await freePort();
    try {
      return [port, await start(port)];
    } catch (error) {
      if (tries === 5 || !String(error).includes("could not bind")) throw error;
    }
  }
}

/**
 * Kills the postmaster and its children. If only the postmaster were killed, its children would end some time later, and a new server could
 * not start before.
 */
async function killWithChildren(server: ChildProcess): Promise<void> {
  const ended = once(server, "exit");
  // The postmaster is stopped first, so that it starts no more children.
  server.kill("SIGSTOP");
  const family = (await processes("--ppid", String(server.pid))).map(({ pid }) => pid);
  server.kill("SIGKILL");
  await ended;
  if (family.length === 0) return;
  for (const pid of family) killIfThere(pid);
  await until(async () => (await processes("-p", family.join(","))).every(({ state }) => state === "Z"));
}

/** Reads the state of processes from `ps`. A dead process stays in the list as `Z` while its parent has not asked for its exit code. */
async function processes(
  ...which: readonly string[]
): Promise<{ readonly pid: number; readonly state: string }[]> {
  // `ps` exits with 1 if there are no such processes.
  const { stdout } = await run("ps", ["-o", "pid=,stat=", ...which]).catch(() => ({ stdout: "" }));
  return [...stdout.matchAll(/(\d+) (\w)/g)].map(([, pid, state = ""]) => ({ pid: Number(pid), state }));
}

function killIfThere(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // The process has already ended.
  }
}

/** Opens a plain connection of the driver. Close it with `end`. */
export async function connectPlainly(address: string): Promise<Client> {
  const { hosts, user, password, database } = parseDatabaseAddress(address);
  const client = new Client({ ...hosts[0], user, password: password ?? "", database });
  // When a server stops, it ends its connections.
  client.on("error", () => undefined);
  await client.connect();
  return client;
}

/** Ends the server at once, as in a crash. */
async function end(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const ended = once(server, "exit");
  server.kill("SIGQUIT");
  await ended;
}

/** Finds a port of the loopback address on which nothing listens now. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

/** Resolves when the server accepts connections. */
async function readiness(server: ChildProcess): Promise<void> {
  if (server.stderr === null) throw new Error("its log is not read");
  const said: string[] = [];
  const lines = createInterface({ input: server.stderr });
  await new Promise<void>((resolve, reject) => {
    lines.on("line", (line) => {
      if (said.length < 100) said.push(line);
      if (line.includes("ready to accept")) resolve();
    });
    server.once("exit", () => reject(new Error(`PostgreSQL did not start:\n${said.join("\n")}`)));
  });
}
