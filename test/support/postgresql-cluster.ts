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
import { makeFolder } from "./temporary-folder.ts";

const run = promisify(execFile);

const DEBIAN = "/usr/lib/postgresql";
/** It has the signs that an address must write as escapes. */
const PASSWORD = "a/b@c:d%e";
export const CLUSTER_USER = "formsvc";
/** PostgreSQL refuses to run as root: as root, it runs as this user, `nobody`. */
const NOBODY = 65_534;

/** The folder of PostgreSQL's programs, the newest of Debian's or the one in the PATH; null if it is not installed. */
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
  /** Its socket is in this folder. */
  readonly folder: string;
  readonly port: number;
  /** The address of one of its databases, over the socket. */
  address(database: string): string;
  stop(): Promise<void>;
}

export interface ClusterOptions {
  /** In addition to those of its file, like `fsync=off`. */
  readonly settings?: readonly string[];
  /** Whether it listens on this machine's loopback address too. */
  readonly tcp?: boolean;
  /** Whether it starts as a standby, of no primary. */
  readonly standby?: boolean;
  /** Files beside its data, by name. */
  readonly files?: Readonly<Record<string, string>>;
}

/**
 * Becomes the command of its arguments, and leaves a watch beside it. The watch reads from a pipe of this process: a line says that
 * the command has ended; the end of the pipe without a line, that this process was killed, and then the watch ends the command.
 */
const NO_LONGER_THAN_THIS_PROCESS = '{ read -r _ <&3 || kill -QUIT $$; } & exec "$@" 3<&-';

/** Makes a cluster in a temporary folder and starts it. */
export async function startCluster(options: ClusterOptions = {}): Promise<Cluster> {
  const programs = findPostgresql();
  if (programs === null) throw new Error("PostgreSQL is not installed");
  const folder = makeFolder();
  const data = join(folder.path, "data");
  const user = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
  const write = (path: string, content: string): string => {
    writeFileSync(path, content, { mode: 0o600 });
    if (user.uid !== undefined) chownSync(path, NOBODY, NOBODY);
    return path;
  };
  if (user.uid !== undefined) chownSync(folder.path, NOBODY, NOBODY);
  const passwordFile = write(join(folder.path, "password"), PASSWORD);
  const making = [
    "-D",
    data,
    "-N",
    "-E",
    "UTF8",
    "--locale=C",
    "-U",
    CLUSTER_USER,
    `--pwfile=${passwordFile}`,
  ];
  await run(join(programs, "initdb"), [...making, "-A", "scram-sha-256"], { ...user, cwd: folder.path });
  for (const [name, content] of Object.entries(options.files ?? {})) write(join(data, name), content);
  if (options.standby === true) write(join(data, "standby.signal"), "");
  const listen = options.tcp === true ? "127.0.0.1" : "";
  const own = [`listen_addresses=${listen}`, `unix_socket_directories=${folder.path}`, "shared_buffers=32MB"];
  const settings = [...own, ...(options.settings ?? [])].flatMap((each) => ["-c", each]);
  const start = async (port: number): Promise<Cluster> => {
    const command = [join(programs, "postgres"), "-D", data, "-p", String(port), ...settings];
    const server = spawn("sh", ["-c", NO_LONGER_THAN_THIS_PROCESS, "sh", ...command], {
      ...user,
      cwd: folder.path,
      stdio: ["ignore", "ignore", "pipe", "pipe"],
    });
    const watch = server.stdio[3] as Writable;
    server.once("exit", () => watch.end("ended\n"));
    await readiness(server);
    return {
      folder: folder.path,
      port,
      address: (database) =>
        `postgresql://${CLUSTER_USER}:${encodeURIComponent(PASSWORD)}@:${port}/${database}?host=${folder.path}`,
      async stop() {
        await end(server);
        folder.remove();
      },
    };
  };
  if (options.tcp !== true) return start(5432);
  // Somebody may take the free port before the server does.
  for (let tries = 1; ; tries += 1) {
    try {
      return await start(await freePort());
    } catch (error) {
      if (tries === 5 || !String(error).includes("could not bind")) throw error;
    }
  }
}

/** A plain connection of the driver's; close it with `end`. */
export async function connectPlainly(address: string): Promise<Client> {
  const { hosts, user, password, database } = parseDatabaseAddress(address);
  const client = new Client({ ...hosts[0], user, password: password ?? "", database });
  // A server that is stopped ends its connections.
  client.on("error", () => undefined);
  await client.connect();
  return client;
}

/** At once, as in a crash. */
async function end(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const ended = once(server, "exit");
  server.kill("SIGQUIT");
  await ended;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

/** Resolves when the server takes connections. */
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
