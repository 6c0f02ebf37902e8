import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { LoadResult } from "./load.ts";

/** Benchmarks start servers on this core, and the load generator on the other one. */
const SERVER_CORE = "0";
export const LOAD_CORE = "1";
const root = fileURLToPath(new URL("../..", import.meta.url));
export const executable = join(root, "dist/formsvc");

export interface RunningServer {
  readonly port: number;
  readonly pid: number;
  stop(): Promise<void>;
}

/** Starts a server. Its output, which names its port, is written to `logFile`. */
export async function startServer(
  command: readonly string[],
  logFile: string,
  env: Record<string, string>,
  core = SERVER_CORE,
): Promise<RunningServer> {
  const output = openSync(logFile, "w");
  const child = spawn("taskset", ["-c", core, ...command], {
    stdio: ["ignore", output, output],
    env: { ...process.env, ...env },
  });
  closeSync(output);
  const port = await portFrom(logFile, child);
  return {
    port,
    pid: child.pid ?? 0,
    stop: async () => {
      child.kill("SIGTERM");
      await once(child, "exit");
    },
  };
}

/** The server that the load generator posts to. */
interface LoadTarget {
  readonly port: number;
  /** The core of the load generator. */
  readonly core?: string;
  /** Requests a second; if absent, each socket sends again at once. */
  readonly rate?: number;
}

/** Moves the thread that runs this, and the threads that it starts later, off the core of the servers. */
export function leaveServerCore(): void {
  execFileSync("taskset", ["-cp", LOAD_CORE, String(process.pid)], { stdio: "ignore" });
}

export async function runLoad(
  { port, core = LOAD_CORE, rate = Infinity }: LoadTarget,
  connections: number,
  seconds: number,
  request: string,
): Promise<LoadResult> {
  const script = join(root, "scripts/bench/load.ts");
  const numbers = [port, connections, seconds, rate].map(String);
  const args = ["-c", core, process.execPath, script, ...numbers];
  const child = spawn("taskset", args, { stdio: ["pipe", "pipe", "inherit"] });
  child.stdin.end(request);
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
  const [code] = (await once(child, "close")) as [number];
  if (code !== 0) throw new Error(`the load generator failed with ${code}`);
  return JSON.parse(output) as LoadResult;
}

export interface Measured extends LoadResult {
  /** Processor time of the server for each request, in microseconds. It is steadier than the rate on a machine with other work. */
  readonly processorUs: number;
}

/**
 * Like {@link runLoad}, with the server's processor time. @throws if any answer is not 200, because a refused post is cheaper than a stored
 * one
 */
export async function measure(
  server: LoadTarget & Pick<RunningServer, "pid">,
  connections: number,
  seconds: number,
  request: string,
): Promise<Measured> {
  const before = processorMs(server.pid);
  const result = await runLoad(server, connections, seconds, request);
  const others = Object.keys(result.statuses).filter((status) => status !== "200");
  if (others.length > 0) throw new Error(`requests were answered ${others.join(", ")}`);
  return { ...result, processorUs: ((processorMs(server.pid) - before) * 1000) / result.requests };
}

export function postRequest(key: string, body: string): string {
  const head = [
    "POST /submit HTTP/1.1",
    "Host: 127.0.0.1",
    `Authorization: Bearer ${key}`,
    "Content-Type: application/json",
    "User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
    "Accept-Language: en",
    `Content-Length: ${Buffer.byteLength(body)}`,
  ];
  return `${head.join("\r\n")}\r\n\r\n${body}`;
}

/** The resident memory of a process, in megabytes. */
export function residentMb(pid: number): number {
  const pages = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return Math.round(Number(pages) / 102.4) / 10;
}

/** The processor time that a process has used so far, in milliseconds. The kernel's resolution is 10 ms. */
export function processorMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}

/** How long a server may take to start, in milliseconds. On a busy machine and under QEMU it takes ten seconds and more. */
const START_TIMEOUT_MS = 60_000;

async function portFrom(logFile: string, child: ChildProcess): Promise<number> {
  const until = performance.now() + START_TIMEOUT_MS;
  while (performance.now() < until) {
    const log = readFileSync(logFile, "utf8");
    const port = /"url":"http:\/\/[^"]*:(\d+)"/.exec(log)?.[1] ?? /"port":(\d+)/.exec(log)?.[1];
    if (port !== undefined) return Number(port);
    if (child.exitCode !== null) throw new Error(`the server ended: ${log}`);
    await sleep(5);
  }
  throw new Error("the server did not start");
}
