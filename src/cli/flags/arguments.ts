import { closeSync, openSync, readSync } from "node:fs";
import { createInterface } from "node:readline/promises";
import { systemClock } from "../../foundation/clock.ts";
import { FormsvcError } from "../../foundation/errors.ts";
import { sayJsonFault } from "../../foundation/json-fault.ts";
import { readDuration, readTime, TIME_FORMS } from "../../foundation/time-text.ts";
import { MAX_SPAM_SCORE } from "../../outbox/queue/recipient.ts";
import { parseFile, refuse } from "../command.ts";

/** The largest file that a command reads as an argument, in bytes. */
const MAX_FILE_BYTES = 4_194_304;

/** Parses `90s`, `15m`, `1h` or `7d` into milliseconds. */
export function parseDuration(text: string): number {
  return readDuration(text) ?? refuse("expected a duration like 90s, 15m, 1h or 7d");
}

/** Parses a time like {@link readTime}, into milliseconds since 1970 UTC. */
export function parseTime(text: string): number {
  return readTime(text, systemClock.now()) ?? refuse(`expected ${TIME_FORMS}`);
}

/** Checks a time like {@link parseTime} and returns the text unchanged, for an operation that parses it. */
export function parseTimeText(text: string): string {
  parseTime(text);
  return text;
}

export function parseCount(limit: number): (text: string) => number {
  return (text) => {
    const count = /^\d{1,9}$/.test(text) ? Number(text) : 0;
    return count >= 1 && count <= limit ? count : refuse(`expected a whole number from 1 to ${limit}`);
  };
}

export function parseScore(text: string): number {
  return /^\d{1,3}$/.test(text) && Number(text) <= MAX_SPAM_SCORE
    ? Number(text)
    : refuse(`expected a whole number from 0 to ${MAX_SPAM_SCORE}`);
}

export function parseMonth(text: string): string {
  return /^\d{4}-(?:0[1-9]|1[0-2])$/.test(text) ? text : refuse("expected a month like 2026-01");
}

/** The address of a server, without its path. */
export function parseBaseUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  const isAddress = url !== null && /^https?:$/.test(url.protocol) && url.origin === text.replace(/\/$/, "");
  return isAddress ? url.origin : refuse("expected an address like https://forms.example.com");
}

/** The text of a file, or of standard input for `-`. @throws usage if it cannot be read or is too large */
export function readInput(file: string): string {
  parseFile(file);
  let content: Buffer;
  try {
    content = readAtMost(file, MAX_FILE_BYTES + 1);
  } catch (error) {
    throw new FormsvcError("usage", `${file}: cannot be read (${(error as Error).message})`, {
      cause: error,
    });
  }
  if (content.length > MAX_FILE_BYTES)
    throw new FormsvcError("usage", `${file}: larger than ${MAX_FILE_BYTES} bytes`);
  return content.toString("utf8").replace(/^\uFEFF/, "");
}

/** The lines of a file, or of standard input for `-`, without empty ones. @throws usage as {@link readInput} does. */
export function readLines(file: string): readonly string[] {
  return readInput(file)
    .split(/\r?\n/)
    .filter((line) => line.trim() !== "");
}

/** Reads a bounded part, because a device or a pipe may never end. */
function readAtMost(file: string, bytes: number): Buffer {
  const fd = file === "-" ? 0 : openSync(file, "r");
  try {
    const content = Buffer.alloc(bytes);
    let length = 0;
    let read: number;
    do {
      read = readSync(fd, content, length, bytes - length, null);
      length += read;
    } while (read > 0 && length < bytes);
    return content.subarray(0, length);
  } finally {
    if (fd !== 0) closeSync(fd);
  }
}

/** The name of a file in messages. */
export function sourceOf(file: string): string {
  return file === "-" ? "standard input" : file;
}

/** @param source the name of the JSON's origin, for the message @throws usage */
export function parseJson(content: string, source: string): unknown {
  try {
    return JSON.parse(content);
  } catch (error) {
    throw new FormsvcError("usage", `${source}: not JSON (${sayJsonFault(content, error)})`);
  }
}

/** The option of a command that asks for confirmation. */
export const yesOption = { flags: "--yes", summary: "do it without being asked" } as const;

/**
 * Asks for confirmation on a terminal. Without a terminal, `--yes` must be given.
 *
 * @throws usage if nobody can be asked; failed if the answer is no
 */
export async function confirm(question: string, yes: boolean): Promise<void> {
  if (yes) return;
  if (!process.stdin.isTTY)
    throw new FormsvcError("usage", `nobody can be asked here, so give --yes: ${question}`);
  const prompt = createInterface({ input: process.stdin, output: process.stderr });
  // The end of input and Ctrl-C close the prompt without an answer, which means no.
  const closed = new Promise<null>((resolve) => prompt.once("close", () => resolve(null)));
  const asked = prompt.question(`${question} [y/N] `).catch(() => null);
  const answer = await Promise.race([asked, closed]);
  prompt.close();
  // Nobody ended the line of the question.
  if (answer === null) process.stderr.write("\n");
  if (!/^y(?:es)?$/i.test(answer?.trim() ?? "")) throw new FormsvcError("failed", "nothing was changed");
}
