import type { ChildProcess } from "node:child_process";
import { createInterface } from "node:readline";
import { whenEnded } from "./program.ts";

/** A process of `serve` that accepts posts. */
export interface RunningServer {
  readonly url: string;
  readonly process: ChildProcess;
  /** Every line that has been logged so far. */
  readonly lines: readonly Record<string, unknown>[];
  /** Returns the whole log as text. */
  log(): string;
  stderr(): string;
  /** Resolves with the exit code; null if a signal ended the process. */
  readonly ended: Promise<number | null>;
  /** Sends a signal and waits for the end. Returns the exit code; null if the signal ended the process. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

/** Waits until the server listens. @throws if the server ends before; the error contains its standard error */
export async function watchServer(child: ChildProcess): Promise<RunningServer> {
  const lines: Record<string, unknown>[] = [];
  let log = "";
  let stderr = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  const ended = whenEnded(child);
  const url = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout! }).on("line", (line) => {
      const entry = JSON.parse(line) as Record<string, unknown>;
      log += `${line}\n`;
      lines.push(entry);
      if (entry["event"] === "server.listening") resolve(String(entry["url"]));
    });
    void ended.then((code) => reject(new Error(`serve ended with ${String(code)}: ${stderr}`)), reject);
  });
  return {
    url,
    process: child,
    lines,
    log: () => log,
    stderr: () => stderr,
    ended,
    stop(signal = "SIGTERM") {
      child.kill(signal);
      return ended;
    },
  };
}
