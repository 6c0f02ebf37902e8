import { spawn } from "node:child_process";
import { chmodSync, chownSync, existsSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { parseDatabaseAddress } from "../../src/database/postgresql/address.ts";
import { NOBODY } from "./postgresql-cluster.ts";
import { makeFolder } from "./temporary-folder.ts";

/** The path of PgBouncer; null if it is not installed. */
export function findPgbouncer(): string | null {
  const folders = ["/usr/sbin", ...(process.env["PATH"] ?? "").split(":")];
  return folders.map((folder) => join(folder, "pgbouncer")).find((path) => existsSync(path)) ?? null;
}

/** PgBouncer between clients and a cluster. It lends a client a connection to the cluster for one transaction at a time. */
export interface Pgbouncer {
  /** The address of the same database through PgBouncer. */
  readonly address: string;
  stop(): Promise<void>;
}

const PORT = 6432;

/** Starts PgBouncer. @param to the address of a database */
export async function startPgbouncer(to: string): Promise<Pgbouncer> {
  const program = findPgbouncer();
  if (program === null) throw new Error("PgBouncer is not installed");
  const folder = makeFolder();
  const { hosts, user, password, database } = parseDatabaseAddress(to);
  const { host = "", port = 0 } = hosts[0] ?? {};
  const settings = join(folder.path, "pgbouncer.ini");
  const upstream = `host=${host} port=${port} user=${user} password='${password ?? ""}'`;
  const text = [
    `[databases]\n* = ${upstream}`,
    `[pgbouncer]\nlisten_addr =\nlisten_port = ${PORT}\nunix_socket_dir = ${folder.path}`,
    "auth_type = any\npool_mode = transaction\nmax_client_conn = 200\ndefault_pool_size = 20",
  ];
  writeFileSync(settings, `${text.join("\n")}\n`);
  // PgBouncer refuses to run as root.
  const asNobody = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
  if (asNobody.uid !== undefined) chownSync(folder.path, NOBODY, NOBODY);
  chmodSync(settings, 0o644);
  const pooler = spawn(program, [settings], { ...asNobody, stdio: ["ignore", "ignore", "pipe"] });
  const said: string[] = [];
  await new Promise<void>((resolve, reject) => {
    createInterface({ input: pooler.stderr }).on("line", (line) => {
      if (said.length < 100) said.push(line);
      if (line.includes("process up")) resolve();
    });
    pooler.once("exit", () => reject(new Error(`PgBouncer did not start:\n${said.join("\n")}`)));
  });
  return {
    address: `postgresql://${user}:nothing@:${PORT}/${database}?host=${folder.path}`,
    async stop() {
      const ended = once(pooler, "exit");
      if (pooler.exitCode === null && pooler.signalCode === null && pooler.kill("SIGKILL")) await ended;
      folder.remove();
    },
  };
}
