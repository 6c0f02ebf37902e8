import { addAbortListener, once } from "node:events";
import { connect, type Socket } from "node:net";
import { setImmediate } from "node:timers/promises";
import type { ClamdAddress } from "../foundation/clamd-address.ts";

/** What a scanner found. */
export type ScanVerdict = { readonly isClean: true } | { readonly isClean: false; readonly virus: string };

/** The scanner gave no verdict. */
export class ScanFailure extends Error {
  /**
   * `scanner`: it is not there, or it is none. `file`: the reason may lie in the file, and another try may help. `refused`: it will never
   * scan this file.
   */
  readonly blame: "scanner" | "file" | "refused";

  constructor(blame: ScanFailure["blame"], message: string, cause?: unknown) {
    super(message, { cause });
    this.name = "ScanFailure";
    this.blame = blame;
  }
}

/** The connection ended while the file was sent. */
class BrokenOff extends ScanFailure {}

/** Connections that may end so, one after the other, for one verdict. About one in ten does for a file that is too large. */
const MAX_BROKEN_OFF = 5;

export interface ClamdTimes {
  readonly connectMs: number;
  /** Longest time in which it takes none of the bytes that are sent. */
  readonly stallMs: number;
  /** Longest time from the last byte to the verdict. */
  readonly answerMs: number;
}

/** clamd itself gives up a file after 120 seconds (its `MaxScanTime`). */
export const CLAMD_TIMES: ClamdTimes = { connectMs: 5000, stallMs: 30_000, answerMs: 130_000 };

/** Longest answer that is read, in bytes: the name of a virus has some dozens. */
const MAX_ANSWER_BYTES = 4096;
/** Longest name that is kept. */
const MAX_VIRUS_LENGTH = 100;
const END = Buffer.alloc(4);

/** A virus scanner that speaks clamd's protocol: each question has a connection of its own. */
export class Clamd {
  readonly #address: ClamdAddress;
  readonly #times: ClamdTimes;

  constructor(address: ClamdAddress, times: ClamdTimes = CLAMD_TIMES) {
    this.#address = address;
    this.#times = times;
  }

  /**
   * Sends the bytes of a file as they are read, and waits for the verdict. clamd closes a connection as soon as it refuses a file, so its answer
   * can be lost with what is being sent: it is asked again at once, some times.
   *
   * @param stopped aborted when nobody wants the verdict any more. @throws ScanFailure; what `read` throws
   */
  async scan(read: () => AsyncIterable<Buffer>, stopped?: AbortSignal): Promise<ScanVerdict> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#scanOnce(read(), stopped);
      } catch (error) {
        if (!(error instanceof BrokenOff) || attempt === MAX_BROKEN_OFF || stopped?.aborted) throw error;
      }
    }
  }

  async #scanOnce(parts: AsyncIterable<Buffer>, stopped?: AbortSignal): Promise<ScanVerdict> {
    const session = await this.#open("zINSTREAM\0", stopped);
    try {
      for await (const part of parts) {
        // What it has said by now is heard before it is sent more.
        await setImmediate();
        if (session.hasAnswered) break;
        const length = Buffer.alloc(4);
        length.writeUInt32BE(part.length);
        await session.send(Buffer.concat([length, part]), this.#times.stallMs);
      }
      // It hears "that was all" only if it was: an answer before is none about the file.
      const isEarly = session.hasAnswered;
      if (!isEarly) await session.sendEnd(this.#times.stallMs);
      return verdictOf(await session.answer(this.#times.answerMs), isEarly);
    } finally {
      session.close();
    }
  }

  /** Its version and that of its signatures. @throws ScanFailure */
  async version(): Promise<string> {
    const session = await this.#open("zVERSION\0");
    try {
      const text = await session.answer(this.#times.connectMs);
      if (!text.startsWith("ClamAV ")) throw nonsense(text);
      return printable(text);
    } finally {
      session.close();
    }
  }

  async #open(command: string, stopped?: AbortSignal): Promise<Session> {
    const session = new Session(connect(this.#address), stopped);
    try {
      await session.connected(this.#times.connectMs);
      await session.send(Buffer.from(command), this.#times.stallMs);
      return session;
    } catch (error) {
      session.close();
      throw error;
    }
  }
}

/** What a scanner was sent. */
type Sent = "nothing" | "a part" | "all";

/** One connection. Whatever ends it before the answer is a {@link ScanFailure}. */
class Session {
  readonly #socket: Socket;
  readonly #answered = Promise.withResolvers<string>();
  readonly #following: Disposable | null;
  #hasAnswered = false;
  #sent: Sent = "nothing";

  /** @param stopped closes it. One signal is of many connections, so each lets go of it when it is closed. */
  constructor(socket: Socket, stopped?: AbortSignal) {
    this.#socket = socket;
    this.#following = stopped === undefined ? null : addAbortListener(stopped, () => this.close());
    // Nobody may be waiting for it yet.
    this.#answered.promise.catch(() => {});
    let read = Buffer.alloc(0);
    socket.on("data", (bytes: Buffer) => {
      read = Buffer.concat([read, bytes]);
      const end = read.indexOf(0);
      if (end >= 0) this.#answer(read.subarray(0, end).toString("latin1"));
      else if (read.length > MAX_ANSWER_BYTES || read.includes("\n"))
        this.#fail(nonsense(read.toString("latin1")));
    });
    socket.on("end", () => this.#fail(broken(read, this.#sent)));
    socket.on("error", (error) =>
      this.#fail(this.#sent === "nothing" ? unreachable(error) : lost(error, this.#sent)),
    );
    socket.on("close", () => this.#fail(broken(read, this.#sent)));
  }

  /** Whether it said something, or is not there any more. */
  get hasAnswered(): boolean {
    return this.#hasAnswered;
  }

  async connected(limitMs: number): Promise<void> {
    await this.#within(limitMs, once(this.#socket, "connect"), "did not take the connection", "scanner");
  }

  /** Resolves when it may be sent more. An answer that comes first ends the wait. */
  async send(bytes: Buffer, limitMs: number): Promise<void> {
    if (this.#hasAnswered) return;
    if (this.#sent === "nothing") this.#sent = "a part";
    if (this.#socket.write(bytes)) return;
    await this.#within(limitMs, once(this.#socket, "drain"), "stopped to take the file", "file");
  }

  /** Says that this was the whole file. */
  sendEnd(limitMs: number): Promise<void> {
    this.#sent = "all";
    return this.send(END, limitMs);
  }

  /** @throws ScanFailure */
  answer(limitMs: number): Promise<string> {
    return this.#within(limitMs, this.#answered.promise, "gave no verdict", "file");
  }

  close(): void {
    this.#following?.[Symbol.dispose]();
    this.#socket.destroy();
  }

  /** Ends with the work, with whatever ends the connection, or after the time. */
  async #within<Result>(
    limitMs: number,
    work: Promise<Result>,
    what: string,
    blame: ScanFailure["blame"],
  ): Promise<Result> {
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(
      () => late.reject(new ScanFailure(blame, `the scanner ${what} within ${limitMs} ms`)),
      limitMs,
    );
    // Of `once`: whoever ends the connection says why.
    work.catch(() => {});
    try {
      return await Promise.race([work, this.#answered.promise as Promise<Result>, late.promise]);
    } finally {
      clearTimeout(timer);
    }
  }

  #answer(text: string): void {
    this.#hasAnswered = true;
    this.#answered.resolve(text);
  }

  #fail(failure: ScanFailure): void {
    this.#hasAnswered = true;
    this.#answered.reject(failure);
  }
}

/** @param isEarly whether it came before the end of the file was sent. */
function verdictOf(answer: string, isEarly: boolean): ScanVerdict {
  if (answer.endsWith("ERROR")) {
    const isTooLarge = answer.includes("size limit exceeded");
    const advice = isTooLarge ? " (its StreamMaxLength)" : "";
    throw new ScanFailure(isTooLarge ? "refused" : "file", `the scanner said: ${printable(answer)}${advice}`);
  }
  if (isEarly) throw nonsense(answer);
  if (answer === "stream: OK") return { isClean: true };
  const [, virus] = /^stream: (.+) FOUND$/s.exec(answer) ?? [];
  if (virus === undefined) throw nonsense(answer);
  return { isClean: false, virus: printable(virus).slice(0, MAX_VIRUS_LENGTH) };
}

/** What a program said that may be anything at all. */
function printable(text: string): string {
  return text.slice(0, 2 * MAX_VIRUS_LENGTH).replace(/[^\x20-\x7e]/g, "?");
}

function nonsense(text: string): ScanFailure {
  return new ScanFailure("scanner", `what answers is no clamd, or another version of it: ${printable(text)}`);
}

/** The end of a connection without an answer. */
function broken(read: Buffer, sent: Sent): ScanFailure {
  if (read.length > 0) return nonsense(read.toString("latin1"));
  const message = "the scanner closed the connection without a verdict";
  return sent === "a part"
    ? new BrokenOff("file", message)
    : new ScanFailure(sent === "all" ? "file" : "scanner", message);
}

function lost(error: Error, sent: Sent): ScanFailure {
  const message = `the connection to the scanner broke: ${error.message}`;
  return sent === "all" ? new ScanFailure("file", message, error) : new BrokenOff("file", message, error);
}

function unreachable(error: Error): ScanFailure {
  return new ScanFailure("scanner", `the scanner is not reached: ${error.message}`, error);
}
