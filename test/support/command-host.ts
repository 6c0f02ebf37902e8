import { closeSync, openSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { run } from "../../src/cli/program.ts";
import { type HostedCommand, STREAM_FILES } from "./hosted-command.ts";

/**
 * Makes this process run command lines that another one sends, one after the other. Each finds what a process of its own would have:
 * its folder, its environment, and its standard streams, which are files in a folder. Ends with the other process.
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
    // A file gets the lowest descriptor that is free.
    closeSync(fd);
    openSync(join(streams, name), fd === 0 ? "r" : "w");
  }
  const code = await run(args);
  // What a command leaves behind would keep its process from ending.
  while ((await countActive()) > most);
  process.chdir("/");
  process.send?.(code);
}

/** What keeps this process from ending. */
async function countActive(): Promise<number> {
  await sleep(1);
  return process.getActiveResourcesInfo().length;
}
