import { run } from "./cli/program.ts";

// SIGUSR1 would open Node's debugger to every user of the machine, and SIGUSR2 end a server without a drain.
for (const signal of ["SIGUSR1", "SIGUSR2"] as const) process.on(signal, () => {});
process.on("uncaughtException", crash);
process.on("unhandledRejection", crash);

/** After an unexpected error the process ends: acknowledged posts are on disk, and the next start is clean. */
function crash(error: unknown): void {
  process.stderr.write(
    `formsvc: internal error\n${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
  );
  process.exit(1);
}

// If a command waits for something that never comes, the process ends by itself; that must not count as success. Until then there is no
// exit code, because commander would return it for a help that was asked for.
process.on("exit", () => {
  process.exitCode ??= 1;
});
void run(process.argv.slice(2)).then((code) => {
  process.exitCode = code;
  return undefined;
});
