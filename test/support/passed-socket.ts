import { spawn, spawnSync } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { isReady } from "./is-ready.ts";
import type { OperatorMachine } from "./operator-machine.ts";
import { program, whenEnded } from "./program.ts";
import { until } from "./until.ts";

export const hasPython = spawnSync("python3", ["--version"]).status === 0;

/** A parent process that listens on a socket and hands it to one server after the other, as systemd does. */
export interface SocketHolder {
  readonly port: number;
  /** Ends the server with SIGTERM, starts the next one at once, and waits until that is ready. Returns the exit code of the first one. */
  restart(): Promise<number>;
  /** Ends the server and the parent. Returns the server's exit code. */
  end(): Promise<number>;
  /** Returns how often the server sent systemd this message, for example `READY=1`. */
  told(news: string): number;
}

const script = fileURLToPath(new URL("./fake-systemd.py", import.meta.url));

export async function startBehindSocket(
  machine: OperatorMachine,
  env: Readonly<Record<string, string>> = {},
): Promise<SocketHolder> {
  const child = spawn("python3", [script, machine.path("notify"), ...program, "serve"], {
    cwd: machine.folder,
    env: { PATH: "/usr/sbin:/usr/bin:/sbin:/bin", ...env },
    stdio: ["pipe", "pipe", "ignore"],
  });
  const ended = whenEnded(child);
  onTestFinished(async () => {
    child.stdin.end();
    await ended;
  });
  const exits: number[] = [];
  const news: string[] = [];
  let port = 0;
  createInterface({ input: child.stdout }).on("line", (line) => {
    const [what, value = ""] = line.split(" ");
    if (what === "PORT") port = Number(value);
    if (what === "EXITED") exits.push(Number(value));
    if (what === "NEWS") news.push(value);
  });
  const nextExit = async (): Promise<number> => {
    const before = exits.length;
    await until(() => exits.length > before);
    return exits[before]!;
  };
  await until(() => port !== 0 && isReady(port));
  return {
    port,
    async restart() {
      child.stdin.write("restart\n");
      const code = await nextExit();
      // The socket accepts the request at once, and the next server answers it.
      await until(() => isReady(port));
      return code;
    },
    async end() {
      child.stdin.end();
      return nextExit();
    },
    told: (wanted) => news.filter((each) => each === wanted).length,
  };
}
