import { type ChildProcess, spawn } from "node:child_process";
import { chmodSync, constants, copyFileSync, existsSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The path of the built file, which the tests run only in some projects. */
export const executable = fileURLToPath(new URL("../../dist/formsvc", import.meta.url));

/** The path of the sources as one script, which `bundle-program.ts` writes. */
export const bundle = fileURLToPath(
  new URL("../../node_modules/.cache/formsvc-tests/formsvc.cjs", import.meta.url),
);

/** The path of the program's snapshot, in which its commands are loaded. `snapshot-program.ts` writes it. */
export const snapshot = fileURLToPath(
  new URL("../../node_modules/.cache/formsvc-tests/formsvc.blob", import.meta.url),
);

/** The folder in which Node keeps compiled sources between the processes of the tests, if `NODE_COMPILE_CACHE` names it. */
export const compiledSources = fileURLToPath(new URL("../../node_modules/.cache/tests", import.meta.url));

const sources = fileURLToPath(new URL("../../src/main.ts", import.meta.url));
const built = process.env["FORMSVC_EXECUTABLE"];
/** The first words of every command line: the built file in projects whose settings name it, otherwise the bundle. */
export const program: readonly [string, ...string[]] =
  built === undefined ? [process.execPath, bundle] : [built];

export interface ProcessOptions {
  readonly input?: string;
  /** Runs the sources themselves, whose modules Node loads one by one. */
  readonly fromSources?: boolean;
  /** The environment of the process. It has nothing else from the tests' environment: no PATH, no HOME, no TMPDIR. */
  readonly env?: Readonly<Record<string, string>>;
  /** If the tests run as root, runs the built file as the user `nobody`, who cannot ignore the modes of files. */
  readonly asNobody?: boolean;
  /** The words of a command that runs the program under its own process id. The program's words follow them. */
  readonly within?: readonly string[];
  /** Whether a `serve` is refused before it has a server, so that it can start like any other command. */
  readonly isRefused?: boolean;
  /** The file descriptor for standard output; if absent, a pipe. */
  readonly stdout?: number;
}

export interface Ran {
  /** Null if a signal ended the process. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** Parses standard output as one JSON document. */
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

/**
 * The first words of a command line. A command starts from the snapshot, except `serve`, because the snapshot contains no server, and a
 * command with `NODE_OPTIONS`, because flags of Node have no effect in a snapshot.
 */
export function programFor(args: readonly string[], options: ProcessOptions = {}): readonly string[] {
  const { env = {}, isRefused = false } = options;
  const needsServer = args.includes("serve") && !isRefused;
  const isOrdinary = built === undefined && !needsServer && !("NODE_OPTIONS" in env);
  return isOrdinary && existsSync(snapshot) ? fromSnapshot : program;
}

/** The first words of a command line that starts from the snapshot. */
export const fromSnapshot = [process.execPath, "--snapshot-blob", snapshot, bundle] as const;

/** Whether a command line may run in a process that has already run others, because nothing in it depends on the process. */
export function isHostable(args: readonly string[], options: ProcessOptions): boolean {
  const { env = {} } = options;
  return (
    programFor(args, options) === fromSnapshot &&
    Object.keys(options).every((name) => ["input", "env", "isRefused"].includes(name)) &&
    !Object.keys(env).some((name) => name.startsWith("NODE_")) &&
    !OF_PROCESS.test(args.join(" "))
  );
}

/** Commands that run until they are ended, that read standard input as a stream, or that start the program themselves. */
const OF_PROCESS = /^(?:mcp|webhook listen|spam eval|upgrade)\b/;

/** Waits until the process has ended, and returns what it wrote. */
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

/** Waits for the end of a process and returns its exit code; null after a signal. */
export function whenEnded(child: ChildProcess): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve(child.exitCode);
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve(code));
  });
}

/**
 * The environment variable that every process of the bundle gets beside those of a test: the folder in which Node keeps compiled sources
 * between two processes, if the settings of the tests name one. The built file has its own.
 */
export function compileCache(): Record<string, string> {
  const folder = process.env["NODE_COMPILE_CACHE"];
  return folder === undefined || built !== undefined ? {} : { NODE_COMPILE_CACHE: folder };
}

/** Returns the path of the built file, or of a copy of it if the repository is in a folder that only its owner can enter. */
function reachableByAll(folder: string): string {
  chmodSync(folder, 0o777);
  if (isReachable(executable)) return executable;
  const copy = join(folder, "program");
  if (!existsSync(copy)) copyFileSync(executable, copy, constants.COPYFILE_FICLONE);
  return copy;
}

/** Whether every user of the system can reach a file and run it. */
function isReachable(path: string): boolean {
  const mayRun = (statSync(path).mode & constants.S_IXOTH) !== 0;
  return mayRun && (path === dirname(path) || isReachable(dirname(path)));
}
