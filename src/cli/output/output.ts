import { fstatSync, readSync, statSync, writeSync } from "node:fs";
import { FormsvcError } from "../../foundation/errors.ts";
import { jsonText, plainText, terminalText } from "../../foundation/plain-text.ts";

/**
 * The only writer to standard output and standard error. What it prints for people has no control characters and no marks that turn the
 * direction of text, whether its words are a receiver's, a distant server's, or a file's.
 */

export interface Output {
  /** Whether `--json` was given. */
  readonly isJson: boolean;
  /** Prints a line of data for people. */
  line(text: string): void;
  /** Prints rows for people under headings. If there are no rows, it prints only `empty`, on standard error. */
  table(headings: readonly string[], rows: readonly (readonly string[])[], empty: string): void;
  /**
   * From this call on, the command fails with this consequence in its message if standard output fails: the text is shown only once, or
   * something must be done after it.
   */
  mustBeTaken(consequence: string): void;
  /** Prints text as it is; on a terminal without control characters. */
  text(text: string): void;
  /** Prints bytes as they are. @throws usage on a terminal */
  bytes(content: Uint8Array): void;
  /** Prints one JSON document. */
  json(value: unknown): void;
  /** Prints one JSON object in one line. */
  jsonLine(value: unknown): void;
  /** Prints a note for people on standard error; nothing with `--quiet`. */
  note(text: string): void;
  /** Shows the progress of the work in place of the last one; on a terminal only. */
  progress(text: string): void;
}

export function createOutput(options: { readonly json: boolean; readonly quiet: boolean }): Output {
  let consequence: string | null = null;
  const print = (text: string): void => {
    if (consequence !== null && isClosed(1))
      throw new FormsvcError("failed", `standard output is closed; ${consequence}`);
    writeAll(1, text, consequence);
  };
  const out = (text: string): void => print(`${text}\n`);
  let progressLength = 0;
  const note = (text: string): void => {
    if (options.quiet) return;
    const cleared = progressLength > 0 ? `\r${" ".repeat(progressLength)}\r` : "";
    writeAll(2, `${cleared}${terminalText(text)}\n`);
    progressLength = 0;
  };
  const progress = (text: string): void => {
    if (options.quiet || !process.stderr.isTTY) return;
    writeAll(2, `\r${plainText(text).padEnd(progressLength)}`);
    progressLength = text.length;
  };
  return {
    isJson: options.json,
    line: (text) => out(terminalText(text)),
    mustBeTaken: (what) => {
      consequence = what;
    },
    text: (text) => print(process.stdout.isTTY ? terminalText(text) : text),
    bytes(content) {
      if (process.stdout.isTTY)
        throw new FormsvcError(
          "usage",
          "the bytes of a file would disturb the terminal; name a file for them",
        );
      writeAll(1, content, consequence);
    },
    table: (headings, rows, empty) => (rows.length === 0 ? note(empty) : out(renderTable(headings, rows))),
    json: (value) => out(jsonText(value, 2)),
    jsonLine: (value) => out(jsonText(value)),
    note,
    progress,
  };
}

/**
 * Whether a person sees what the server prints. Output to a file or a service manager is kept as a log. Standard output, which the log
 * opened already, is asked first: Node takes milliseconds to open standard input.
 */
export function isOnTerminal(): boolean {
  return process.stdout.isTTY && process.stderr.isTTY && process.stdin.isTTY;
}

/**
 * Whether the caller closed a descriptor, as `>&-` does. Node opens `/dev/null` in its place, for reading too, while a shell that is told
 * to drop the output opens it for writing only.
 */
function isClosed(fd: 1 | 2): boolean {
  try {
    return fstatSync(fd).rdev === statSync("/dev/null").rdev && readSync(fd, Buffer.alloc(1)) === 0;
  } catch {
    return false;
  }
}

/** The number of lines of the terminal of standard output; null if the output goes elsewhere. */
export function screenRows(): number | null {
  return process.stdout.isTTY ? process.stdout.rows : null;
}

/** Writes text to standard output as it is. */
export function writeText(text: string): void {
  writeAll(1, text);
}

/** Writes a line to standard error, whatever the options are. */
export function writeError(text: string): void {
  writeAll(2, `${terminalText(text)}\n`);
}

/**
 * Writes synchronously, so that nothing is lost if the process exits next. A write to a full pipe is repeated. A closed pipe ends the
 * program quietly, as `head` expects, unless there is a consequence to report. If standard error is closed, the program goes on.
 */
function writeAll(fd: 1 | 2, content: string | Uint8Array, consequence: string | null = null): void {
  let rest = typeof content === "string" ? Buffer.from(content) : content;
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(fd, rest));
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      if (code !== "EAGAIN") {
        if (fd === 2) return;
        if (code === "EPIPE" && consequence === null) process.exit(0);
        const why = `standard output cannot be written (${message})`;
        throw new FormsvcError("failed", consequence === null ? why : `${why}; ${consequence}`, {
          cause: error,
        });
      }
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
    }
  }
}

/** Makes columns as wide as their widest cell. The last one is not padded. */
function renderTable(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const cells = [headings, ...rows.map((row) => row.map(plainText))];
  const widths = headings.map((_, column) => Math.max(...cells.map((row) => (row[column] ?? "").length)));
  return cells
    .map((row) =>
      row
        .map((cell, column) => (column === row.length - 1 ? cell : pad(cell, widths[column] ?? 0)))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

function pad(text: string, width: number): string {
  return text + " ".repeat(Math.max(0, width - text.length));
}
