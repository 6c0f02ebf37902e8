import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { createReadStream } from "node:fs";

export const hasStrace = spawnSync("strace", ["--version"]).status === 0;

/** One side of a system call: what it was given when it began, or what it returned when it ended. */
export interface CallEvent {
  readonly phase: "begin" | "end";
  readonly name: string;
  /** The file or socket behind its first argument. */
  readonly path: string;
  /** What is written, when it begins; empty for other calls. */
  readonly bytes: Buffer;
  /** The offset in the file of a write; 0 for other calls. */
  readonly offset: number;
  /** The result, when it ended. */
  readonly result: number;
  /** The call's beginning, when it ended. */
  readonly begun?: CallEvent;
}

/** Longest time in which strace lets go of a process after it is asked to. */
const ENDS_WITHIN_MS = 3000;

export interface Tracing {
  /** Detaches; the traced process goes on. */
  stop(): Promise<void>;
}

/** Attaches strace to a process and all its threads, with `args` to say what it does there. */
export async function attachStrace(pid: number, args: readonly string[]): Promise<Tracing> {
  const child = spawn("strace", ["-f", "-p", String(pid), ...args], { stdio: ["ignore", "ignore", "pipe"] });
  const closed = once(child, "close");
  let said = "";
  await new Promise<void>((resolve, reject) => {
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      said += text;
      if (/attached/.test(said)) resolve();
    });
    child.once("close", () => reject(new Error(`strace ended: ${said}`)));
  });
  return {
    async stop() {
      child.kill("SIGINT");
      // If one of its signals killed the process, strace can wait for a thread that has ended already, and hears nothing else.
      const last = setTimeout(() => child.kill("SIGKILL"), ENDS_WITHIN_MS);
      await closed;
      clearTimeout(last);
    },
  };
}

/** Records what a process writes and makes durable, in order, into `file`. */
export function recordWrites(pid: number, file: string): Promise<Tracing> {
  return attachStrace(pid, [
    "-y",
    "-xx",
    "-s",
    "70000",
    "-o",
    file,
    "-e",
    "trace=write,writev,pwrite64,fsync,fdatasync",
  ]);
}

const BEGIN = /^(\d+) +(\w+)\(\d+<((?:\\x[0-9a-f]{2}|[^>])*)>(.*)$/;
const RESUMED = /^(\d+) +<\.\.\. (\w+) resumed>.*= (-?\d+)/;
const RESULT = /\) += (-?\d+)[^"]*$/;

/** Reads a record, which may be larger than memory, as the order in which calls began and ended, over all threads. */
export async function* readCalls(file: string): AsyncGenerator<CallEvent> {
  const read = readLine();
  let left = "";
  for await (const part of createReadStream(file, { encoding: "latin1", highWaterMark: PART_BYTES })) {
    const lines = (left + String(part)).split("\n");
    left = lines.pop() ?? "";
    for (const line of lines) yield* read(line);
  }
}

/** Some lines are hundreds of kilobytes long. */
const PART_BYTES = 4 * 1024 * 1024;

function readLine(): (line: string) => CallEvent[] {
  const open = new Map<string, CallEvent>();
  return (line) => {
    const [, resumedBy = "", , resumedResult = ""] = RESUMED.exec(line) ?? [];
    const resumed = open.get(resumedBy);
    if (resumed !== undefined) {
      open.delete(resumedBy);
      return [endOf(resumed, resumedResult)];
    }
    const [, thread = "", name = "", path = "", rest = ""] = BEGIN.exec(line) ?? [];
    if (name === "") return [];
    const begun = new Begun(name, decode(path), rest);
    const result = RESULT.exec(rest)?.[1];
    if (result !== undefined) return [begun, endOf(begun, result)];
    open.set(thread, begun);
    return [begun];
  };
}

class Begun implements CallEvent {
  readonly phase = "begin";
  readonly name: string;
  readonly path: string;
  readonly result = 0;
  readonly #rest: string;

  constructor(name: string, path: string, rest: string) {
    this.name = name;
    this.path = path;
    this.#rest = rest;
  }

  /** Decoded for who asks, because most is written to files that nobody asks about. */
  get bytes(): Buffer {
    return Buffer.concat([...this.#rest.matchAll(/"([^"]*)"/g)].map(([, hex = ""]) => unescape(hex)));
  }

  get offset(): number {
    return this.name === "pwrite64" ? Number(/, (\d+)(?:\)| <unfinished)[^"]*$/.exec(this.#rest)?.[1]) : 0;
  }
}

function endOf(begun: CallEvent, result: string): CallEvent {
  const { name, path } = begun;
  return { phase: "end", name, path, bytes: NOTHING, offset: 0, result: Number(result), begun };
}

const NOTHING = Buffer.alloc(0);

function unescape(hex: string): Buffer {
  return Buffer.from(hex.replaceAll("\\x", ""), "hex");
}

/** Paths are escaped as a whole or not at all. */
function decode(path: string): string {
  return path.startsWith("\\x") ? unescape(path).toString() : path;
}
