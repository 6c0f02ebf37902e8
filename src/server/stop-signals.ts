import { readFileSync, readlinkSync } from "node:fs";

/** Resolves with the first signal that asks for a stop. A second one ends the process at once. */
export function nextStopSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolveSignal) => {
    let stopping = false;
    const stop = (signal: NodeJS.Signals): void => {
      if (stopping) process.exit(1);
      stopping = true;
      resolveSignal(signal);
    };
    for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, stop);
    process.on("SIGHUP", isUnderNohup() ? () => {} : stop);
  });
}

/**
 * Whether the process was started by `nohup`, which makes it ignore the hang-up. Node resets every ignored signal before it runs a line,
 * but GNU nohup can still be recognised: it replaces a terminal as standard input by /dev/null, open for writing only.
 */
function isUnderNohup(): boolean {
  try {
    const [, flags = "0"] = /^flags:\s*(\d+)$/m.exec(readFileSync("/proc/self/fdinfo/0", "utf8")) ?? [];
    return readlinkSync("/proc/self/fd/0") === "/dev/null" && (Number.parseInt(flags, 8) & 3) === 1;
  } catch {
    return false;
  }
}
