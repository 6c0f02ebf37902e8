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

const BEGIN = /^(\d+) +(\w+)\(\d+<((?:\\x[0-9a-f]{2}|[^>])*)>/;
const RESUMED = /^(\d+) +<\.\.\. (\w+) resumed>.*= (-?\d+)/;
const RESULT = /\) += (-?\d+)[^"]*$/;
const OFFSET = /, (\d+)(?:\)| <unfinished)[^"]*$/;
/** A call's name and path are at the front of its line, its offset and result at the end; between them is what it writes. */
const FRONT_BYTES = 1024;
const END_BYTES = 100;

/** Reads a record, which may be larger than memory, as the order in which calls began and ended, over all threads. */
export async function* readCalls(file: string): AsyncGenerator<CallEvent> {
  const read = readLine();
  let left = NOTHING;
  for await (const part of createReadStream(file, { highWaterMark: PART_BYTES })) {
    const lines = part as Buffer;
    let from = 0;
    for (let end = lines.indexOf("\n"); end !== -1; end = lines.indexOf("\n", from)) {
      const line = lines.subarray(from, end);
      yield* read(left.length === 0 ? line : Buffer.concat([left, line]));
      left = NOTHING;
      from = end + 1;
    }
    left = Buffer.concat([left, lines.subarray(from)]);
  }
}

/** Some lines are hundreds of kilobytes long. */
const PART_BYTES = 4 * 1024 * 1024;

function readLine(): (line: Buffer) => CallEvent[] {
  const open = new Map<string, CallEvent>();
  return (line) => {
    const front = line.toString("latin1", 0, FRONT_BYTES);
    const [, resumedBy = "", , resumedResult = ""] = RESUMED.exec(front) ?? [];
    const resumed = open.get(resumedBy);
    if (resumed !== undefined) {
      open.delete(resumedBy);
      return [endOf(resumed, resumedResult)];
    }
    const [head = "", thread = "", name = "", path = ""] = BEGIN.exec(front) ?? [];
    if (name === "") return [];
    const begun = new Begun(name, decode(path), line.subarray(head.length));
    const result = RESULT.exec(endOfLine(line))?.[1];
    if (result !== undefined) return [begun, endOf(begun, result)];
    open.set(thread, begun);
    return [begun];
  };
}

function endOfLine(line: Buffer): string {
  return line.toString("latin1", Math.max(0, line.length - END_BYTES));
}

class Begun implements CallEvent {
  readonly phase = "begin";
  readonly name: string;
  readonly path: string;
  readonly result = 0;
  readonly #rest: Buffer;

  constructor(name: string, path: string, rest: Buffer) {
    this.name = name;
    this.path = path;
    this.#rest = rest;
  }

  /** Decoded for who asks, because most is written to files that nobody asks about. */
  get bytes(): Buffer {
    const parts: Buffer[] = [];
    const rest = this.#rest;
    for (let from = rest.indexOf('"'); from !== -1;) {
      const to = rest.indexOf('"', from + 1);
      parts.push(unescape(rest.subarray(from + 1, to)));
      from = rest.indexOf('"', to + 1);
    }
    return parts.length === 1 ? parts[0]! : Buffer.concat(parts);
  }

  get offset(): number {
    return this.name === "pwrite64" ? Number(OFFSET.exec(endOfLine(this.#rest))?.[1]) : 0;
  }
}

function endOf(begun: CallEvent, result: string): CallEvent {
  const { name, path } = begun;
  return { phase: "end", name, path, bytes: NOTHING, offset: 0, result: Number(result), begun };
}

const NOTHING = Buffer.alloc(0);

/** Each byte is four signs: `\x` and two digits. */
function unescape(escaped: Buffer): Buffer {
  const bytes = Buffer.allocUnsafe(escaped.length / 4);
  for (let at = 0; at < bytes.length; at += 1)
    bytes[at] = (valueOf(escaped[4 * at + 2]!) << 4) | valueOf(escaped[4 * at + 3]!);
  return bytes;
}

/** The value of a digit in lower case. */
function valueOf(digit: number): number {
  return digit < LETTER_A ? digit - DIGIT_0 : digit - LETTER_A + 10;
}

const DIGIT_0 = 0x30;
const LETTER_A = 0x61;

/** Paths are escaped as a whole or not at all. */
function decode(path: string): string {
  return path.startsWith("\\x") ? unescape(Buffer.from(path, "latin1")).toString() : path;
}
