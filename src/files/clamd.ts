import { addAbortListener, once } from "node:events";
import { connect, type Socket } from "node:net";
import { setImmediate } from "node:timers/promises";
import type { ClamdAddress } from "../foundation/clamd-address.ts";

/** The verdict of a scanner on one file. */
export type ScanVerdict = { readonly isClean: true } | { readonly isClean: false; readonly virus: string };

/** Thrown if the scanner gave no verdict. */
export class ScanFailure extends Error {
  /**
   * `scanner`: it is not reachable, or what answers is no scanner. `file`: the reason may lie in the file, and another try may help.
   * `refused`: the scanner will never scan this file.
   */
  readonly blame: "scanner" | "file" | "refused";

  constructor(blame: ScanFailure["blame"], message: string, cause?: unknown) {
    super(message, { cause });
    this.name = "ScanFailure";
    this.blame = blame;
  }
}

/** The connection ended while the file was being sent. */
class BrokenOff extends ScanFailure {}

/**
 * The largest number of connections in a row that may end so before a scan fails. It happens to about one in ten if a file is too large.
 */
const MAX_BROKEN_OFF = 5;

export interface ClamdTimes {
  readonly connectMs: number;
  /** The longest time in which the scanner accepts no bytes. */
  readonly stallMs: number;
  /** The longest time from the last byte to the verdict. */
  readonly answerMs: number;
}

/** clamd itself gives up a file after 120 seconds (its `MaxScanTime`). */
const CLAMD_TIMES: ClamdTimes = { connectMs: 5000, stallMs: 30_000, answerMs: 130_000 };

/** The longest answer that is read, in bytes. The name of a virus has a few dozen. */
const MAX_ANSWER_BYTES = 4096;
/** The longest name of a virus that is kept, in characters. */
const MAX_VIRUS_LENGTH = 100;
const END = Buffer.alloc(4);

/** A virus scanner that speaks the protocol of clamd. Each question has a connection of its own. */
export class Clamd {
  readonly #address: ClamdAddress;
  readonly #times: ClamdTimes;

  constructor(address: ClamdAddress, times: ClamdTimes = CLAMD_TIMES) {
    this.#address = address;
    this.#times = times;
  }

  /**
   * Sends the bytes of a file as they are read, and waits for the verdict. clamd closes a connection as soon as it refuses a file, so its
   * answer may get lost. Then the file is sent again at once, up to {@link MAX_BROKEN_OFF} times.
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
        // Lets an answer that has arrived be read before more is sent.
        await setImmediate();
        if (session.hasAnswered) break;
        const length = Buffer.alloc(4);
        length.writeUInt32BE(part.length);
        await session.send(Buffer.concat([length, part]), this.#times.stallMs);
      }
      // The end is sent only if all bytes were. An answer before the end is no verdict on the file.
      const isEarly = session.hasAnswered;
      if (!isEarly) await session.sendEnd(this.#times.stallMs);
      return verdictOf(await session.answer(this.#times.answerMs), isEarly);
    } finally {
      session.close();
    }
  }

  /** Returns the versions of the scanner and of its signatures. @throws ScanFailure */
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

/** The part of a question that was sent. */
type Sent = "nothing" | "a part" | "all";

/** One connection. If it ends before the answer, for whatever reason, that is a {@link ScanFailure}. */
class Session {
  readonly #socket: Socket;
  readonly #answered = Promise.withResolvers<string>();
  readonly #following: Disposable | null;
  #hasAnswered = false;
  #sent: Sent = "nothing";

  /** @param stopped closes the connection. It serves many connections, so each one stops listening to it when it is closed. */
  constructor(socket: Socket, stopped?: AbortSignal) {
    this.#socket = socket;
    this.#following = stopped === undefined ? null : addAbortListener(stopped, () => this.close());
    // The promise may be rejected before anybody waits for it.
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

  /** Whether the scanner has answered, or the connection has ended. */
  get hasAnswered(): boolean {
    return this.#hasAnswered;
  }

  async connected(limitMs: number): Promise<void> {
    await this.#within(limitMs, once(this.#socket, "connect"), "did not take the connection", "scanner");
  }

  /** Resolves when more may be sent. An answer before that ends the wait. */
  async send(bytes: Buffer, limitMs: number): Promise<void> {
    if (this.#hasAnswered) return;
    if (this.#sent === "nothing") this.#sent = "a part";
    if (this.#socket.write(bytes)) return;
    await this.#within(limitMs, once(this.#socket, "drain"), "stopped to take the file", "file");
  }

  /** Sends the mark for the end of the file. */
  sendEnd(limitMs: number): Promise<void> {
    this.#sent = "all";
    return this.send(END, limitMs);
  }

  /** Resolves to the scanner's answer. @throws ScanFailure */
  answer(limitMs: number): Promise<string> {
    return this.#within(limitMs, this.#answered.promise, "gave no verdict", "file");
  }

  close(): void {
    this.#following?.[Symbol.dispose]();
    this.#socket.destroy();
  }

  /** Waits for some work. Also ends with the answer, if the connection ends, or after the time limit. */
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
    // `once` rejects too if the connection ends, but #answered has the better reason.
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

/** @param isEarly whether the answer came before the end of the file was sent. */
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

/** Makes a text safe for messages: the program that sent it may be anything. */
function printable(text: string): string {
  return text.slice(0, 2 * MAX_VIRUS_LENGTH).replace(/[^\x20-\x7e]/g, "?");
}

function nonsense(text: string): ScanFailure {
  return new ScanFailure("scanner", `what answers is no clamd, or another version of it: ${printable(text)}`);
}

/** The failure of a connection that ended without an answer. */
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
