import { type ChildProcess, spawn } from "node:child_process";
import { chmodSync, constants, copyFileSync, existsSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The built file, whether or not it is what the tests run. */
export const executable = fileURLToPath(new URL("../../dist/formsvc", import.meta.url));

/** The sources as one script, which `bundle-program.ts` writes. */
export const bundle = fileURLToPath(
  new URL("../../node_modules/.cache/formsvc-tests/formsvc.cjs", import.meta.url),
);

/** The program with its commands loaded, which `snapshot-program.ts` writes. */
export const snapshot = fileURLToPath(
  new URL("../../node_modules/.cache/formsvc-tests/formsvc.blob", import.meta.url),
);

const sources = fileURLToPath(new URL("../../src/main.ts", import.meta.url));
const built = process.env["FORMSVC_EXECUTABLE"];
/** The first words of every command line: the built file in the projects whose settings name it, otherwise the bundle. */
export const program: readonly [string, ...string[]] =
  built === undefined ? [process.execPath, bundle] : [built];

export interface ProcessOptions {
  readonly input?: string;
  /** Runs the sources, whose modules Node loads one by one. */
  readonly fromSources?: boolean;
  /** Added to an environment that holds nothing: no PATH, no HOME, no TMPDIR. */
  readonly env?: Readonly<Record<string, string>>;
  /** Runs the built file as the system's user nobody, whom the mode of a file stops, if the tests run as root. */
  readonly asNobody?: boolean;
  /** The words of a command that runs the program and keeps its process id: the program's words follow them. */
  readonly within?: readonly string[];
  /** Of a `serve` that is refused before it has a server, so that it is like any other command. */
  readonly isRefused?: boolean;
  /** A file descriptor for standard output; a pipe unless given. */
  readonly stdout?: number;
}

export interface Ran {
  /** Null when a signal ended it. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** Standard output as one JSON document. */
  json(): unknown;
}

export function ranWith(code: number | null, stdout: string, stderr: string): Ran {
  return { code, stdout, stderr, json: parseStdout };
}

/** Starts the program as a process in a folder. */
export function startProgram(
  folder: string,
  args: readonly string[],
  options: ProcessOptions = {},
): ChildProcess {
  const asNobody = options.asNobody === true && process.getuid?.() === 0;
  const own = options.fromSources === true ? [process.execPath, sources] : programFor(args, options);
  const words = asNobody ? [reachableByAll(folder)] : own;
  const [command = "", ...rest] = [...(options.within ?? []), ...words, ...args];
  const child = spawn(command, rest, {
    cwd: folder,
    env: { ...compileCache(), ...options.env },
    stdio: ["pipe", options.stdout ?? "pipe", "pipe"],
    ...(asNobody && { uid: 65_534, gid: 65_534 }),
  });
  child.stdin?.on("error", () => {});
  child.stdin?.end(options.input ?? "");
  return child;
}

/** The first words of a command line: a command starts from the snapshot, in which there is no server, and into which no flag of Node's gets. */
export function programFor(args: readonly string[], options: ProcessOptions = {}): readonly string[] {
  const { env = {}, isRefused = false } = options;
  const needsServer = args.includes("serve") && !isRefused;
  const isOrdinary = built === undefined && !needsServer && !("NODE_OPTIONS" in env);
  return isOrdinary && existsSync(snapshot) ? fromSnapshot : program;
}

/** The first words of a command line that starts from the snapshot. */
export const fromSnapshot = [process.execPath, "--snapshot-blob", snapshot, bundle] as const;

/** Whether a command line may run in a process that has run others, because nothing of it is about the process. */
export function isHostable(args: readonly string[], options: ProcessOptions): boolean {
  const { env = {} } = options;
  return (
    programFor(args, options) === fromSnapshot &&
    Object.keys(options).every((name) => ["input", "env", "isRefused"].includes(name)) &&
    !Object.keys(env).some((name) => name.startsWith("NODE_")) &&
    !OF_PROCESS.test(args.join(" "))
  );
}

/** Commands that go on until they are ended, read standard input as a stream, or start the program themselves. */
const OF_PROCESS = /^(?:mcp|webhook listen|spam eval|upgrade)\b/;

/** What the process wrote, when it has ended. */
export async function collect(child: ChildProcess): Promise<Ran> {
  let stdout = "";
  let stderr = "";
  child.stdout?.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr?.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  const code = await whenEnded(child);
  return ranWith(code, stdout, stderr);
}

function parseStdout(this: Ran): unknown {
  return JSON.parse(this.stdout);
}

/** The exit code; null after a signal. */
export function whenEnded(child: ChildProcess): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve(child.exitCode);
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve(code));
  });
}

/** What a process of the program has in its environment beside what a test gives it: the folder in which Node keeps compiled sources between two processes, if the settings of the tests name one. */
export function compileCache(): Record<string, string> {
  const folder = process.env["NODE_COMPILE_CACHE"];
  return folder === undefined ? {} : { NODE_COMPILE_CACHE: folder };
}

/** A copy for everybody if the repository lies in a folder that only its owner can enter. */
function reachableByAll(folder: string): string {
  chmodSync(folder, 0o777);
  if (isReachable(executable)) return executable;
  const copy = join(folder, "program");
  if (!existsSync(copy)) copyFileSync(executable, copy, constants.COPYFILE_FICLONE);
  return copy;
}

/** Whether every user of the system may go to a file and run it. */
function isReachable(path: string): boolean {
  const mayRun = (statSync(path).mode & constants.S_IXOTH) !== 0;
  return mayRun && (path === dirname(path) || isReachable(dirname(path)));
}
