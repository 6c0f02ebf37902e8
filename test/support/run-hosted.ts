import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type HostedCommand, STREAM_FILES, STREAMS_VARIABLE } from "./hosted-command.ts";
import { memoryFolder } from "./memory-folder.ts";
import { compileCache, fromSnapshot, isHostable, type ProcessOptions, type Ran, ranWith } from "./program.ts";

interface Host {
  readonly process: ChildProcess;
  /** The folder with the files for the standard streams of the running command. */
  readonly streams: string;
}

let host: Host | null = null;
let isBusy = false;

/**
 * Runs a command in a process that has run the commands before it. This takes a tenth of the processor time of a new process. Returns null
 * if the command needs its own process, or if another command is running, so that commands that run at the same time stay separate.
 */
export async function runHosted(
  folder: string,
  args: readonly string[],
  options: ProcessOptions = {},
): Promise<Ran | null> {
  if (isBusy || !isHostable(args, options)) return null;
  isBusy = true;
  host ??= startHost();
  const { channel } = host.process;
  try {
    channel?.ref();
    return await runIn(
      host,
      { folder, args, env: { ...compileCache(), ...options.env } },
      options.input ?? "",
    );
  } finally {
    channel?.unref();
    isBusy = false;
  }
}

async function runIn({ process, streams }: Host, command: HostedCommand, input: string): Promise<Ran> {
  const [inputFile, ...outputs] = STREAM_FILES.map((name) => join(streams, name));
  for (const file of outputs) writeFileSync(file, "");
  writeFileSync(inputFile ?? "", input);
  const ended = new AbortController();
  const { signal } = ended;
  try {
    process.send(command);
    const [code] = (await Promise.race([
      once(process, "message", { signal }),
      once(process, "exit", { signal }),
    ])) as [number | null];
    const [stdout = "", stderr = ""] = outputs.map((file) => readFileSync(file, "utf8"));
    return ranWith(code, stdout, stderr);
  } finally {
    ended.abort();
  }
}

/** Starts the host. It ends with this process, and then removes the folder. */
function startHost(): Host {
  const streams = mkdtempSync(join(memoryFolder() ?? tmpdir(), "formsvc-streams-"));
  const [command, ...args] = fromSnapshot;
  const child = spawn(command, args, {
    env: { ...compileCache(), [STREAMS_VARIABLE]: streams },
    stdio: ["ignore", "ignore", "ignore", "ipc"],
  });
  child.unref();
  child.channel?.unref();
  child.once("exit", () => (host = null));
  return { process: child, streams };
}
