import type { ChildProcess } from "node:child_process";
import { readFileSync } from "node:fs";
import { createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { isReady } from "../support/is-ready.ts";
import type { Endpoint } from "../support/machine-database.ts";
import type { OperatorMachine } from "../support/operator-machine.ts";
import { type ProcessOptions, whenEnded } from "../support/program.ts";
import { until } from "../support/until.ts";

/** The schema of every endpoint here: posts differ by a number alone, so that no spam filter finds a text in them. */
export const numberSchema = { n: { type: "number", required: true } };

/** Nothing refuses but what the test breaks; and no line a request, so that a log of millions is not kept. */
export const ENVIRONMENT = {
  FORMSVC_PLANS_HOBBY_MONTHLY_SUBMISSIONS: "null",
  FORMSVC_RATE_LIMIT_SECRET_MAX: "null",
  FORMSVC_RATE_LIMIT_PUBLISHABLE_MAX: "null",
  FORMSVC_RATE_LIMIT_BAD_KEY_MAX: "null",
  FORMSVC_LOG_LEVEL: "warn",
  FORMSVC_LOG_FORMAT: "json",
};

export interface FaultServer {
  readonly port: number;
  readonly pid: number;
  readonly process: ChildProcess;
  /** From the start of the process until it was ready, in milliseconds of wall time and of the process's own work. */
  readonly readyAfterMs: number;
  readonly readyCpuMs: number;
  readonly stderr: () => string;
  /** Warnings and errors that were logged. */
  readonly log: () => string;
  /** Sends a signal and waits for the end; the exit code, null after a signal that ended it. */
  end(signal: NodeJS.Signals): Promise<number | null>;
}

export type StartOptions = ProcessOptions & { readonly args?: readonly string[] };

/** Starts the executable on `port` and waits until it is ready to take posts. */
export async function startServer(
  machine: OperatorMachine,
  port: number,
  options: StartOptions = {},
): Promise<FaultServer> {
  const { args = [], env, ...rest } = options;
  const startedAt = performance.now();
  const child = machine.start(["serve", "--port", String(port), ...args], {
    ...rest,
    env: { PATH: "/usr/sbin:/usr/bin:/sbin:/bin", ...ENVIRONMENT, ...env },
  });
  const ended = whenEnded(child);
  let log = "";
  let stderr = "";
  child.stdout?.setEncoding("utf8").on("data", (text: string) => (log += text));
  child.stderr?.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  await until(() => {
    if (child.exitCode !== null) throw new Error(`serve ended with ${child.exitCode}: ${stderr}`);
    return isReady(port);
  });
  const pid = child.pid!;
  return {
    port,
    pid,
    process: child,
    readyAfterMs: performance.now() - startedAt,
    readyCpuMs: processorMs(pid),
    stderr: () => stderr,
    log: () => log,
    end(signal) {
      child.kill(signal);
      return ended;
    },
  };
}

export function createNumberEndpoint(
  machine: OperatorMachine,
  schema: object = numberSchema,
): Promise<Endpoint> {
  return machine.createEndpoint({ name: "Numbers", schema });
}

/** A port that nobody listens on now. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0));
    });
  });
}

/** Processor time that a process has used so far, in milliseconds, at the kernel's resolution of 10 ms. */
export function processorMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** Resident memory of a process now, in megabytes. */
export function residentMb(pid: number): number {
  return statusMb(pid, "VmRSS");
}

/** The most memory that a process was ever resident with, in megabytes. */
export function peakResidentMb(pid: number): number {
  return statusMb(pid, "VmHWM");
}

function statusMb(pid: number, name: string): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Math.round(Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(status)?.[1]) / 1024);
}

export { sleep };
