import { closeSync, openSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { run } from "../../src/cli/program.ts";
import { type HostedCommand, STREAM_FILES } from "./hosted-command.ts";

/**
 * Makes this process run the command lines that another process sends, one after the other. Each command finds what it would find in its
 * own process: its folder, its environment and its standard streams, which are files in a folder. This process ends together with the other
 * one.
 */
export function hostCommands(streams: string): void {
  const idle = countActive();
  process.on("message", (command) => void perform(command as HostedCommand, streams, idle));
  process.once("disconnect", () => {
    rmSync(streams, { recursive: true, force: true });
    process.exit();
  });
}

async function perform(
  { folder, args, env }: HostedCommand,
  streams: string,
  idle: Promise<number>,
): Promise<void> {
  const most = await idle;
  process.chdir(folder);
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, env);
  for (const [fd, name] of STREAM_FILES.entries()) {
    // An opened file gets the lowest free descriptor, which is the one that was just closed.
    closeSync(fd);
    openSync(join(streams, name), fd === 0 ? "r" : "w");
  }
  const code = await run(args);
  // Anything that a command leaves open would keep its own process from ending, so this waits until it is gone.
  while ((await countActive()) > most);
  process.chdir("/");
  process.send?.(code);
}

/** Counts the resources that keep this process from ending. */
async function countActive(): Promise<number> {
  await sleep(1);
  return process.getActiveResourcesInfo().length;
}
