import { write, writeSync } from "node:fs";

export interface LogOutput {
  write(line: string): void;
}

/** The largest number of characters that wait for a slow reader. Further lines are dropped until it catches up. */
const MAX_WAITING = 4_194_304;
/**
 * Lines are written together: after at most this time, or as soon as they fill a block. Under full load each write costs time, because
 * another thread does it: blocks of 8 KB cost each post 6 microseconds.
 */
const FLUSH_AFTER_MS = 20;
const BLOCK_LENGTH = 65_536;
/** Time until the next write to a slow reader. */
const RETRY_MS = 100;
/** The number of further writes to a slow reader when the process ends. */
const LAST_TRIES = 5;
const STANDARD_OUTPUT = 1;

/**
 * Writes to standard output asynchronously and in blocks, because a write for each line would cost a post a tenth of its time. A failed
 * write neither ends nor delays the process: if the disk is full or the reader has gone, lines are lost and counted. No timer runs while
 * nothing is logged. Lines that still wait when the process ends are written then.
 *
 * @param describeLoss renders the line that says how many lines were lost before it.
 */
export function gatherLines(describeLoss: (lines: number) => string): LogOutput {
  const output = new GatheringOutput(describeLoss);
  process.on("exit", () => output.writeRest());
  return output;
}

class GatheringOutput implements LogOutput {
  #lines: string[] = [];
  #waiting = 0;
  /** The bytes that are being written; empty if there are none. */
  #block: Buffer = Buffer.alloc(0);
  #scheduled = false;
  #lostLines = 0;
  #brokeOff = false;
  readonly #describeLoss: (lines: number) => string;

  constructor(describeLoss: (lines: number) => string) {
    this.#describeLoss = describeLoss;
  }

  write(line: string): void {
    if (this.#waiting + line.length > MAX_WAITING) {
      this.#lostLines += 1;
      return;
    }
    this.#lines.push(line);
    this.#waiting += line.length;
    if (this.#waiting >= BLOCK_LENGTH) this.#flush();
    else this.#schedule();
  }

  /** Writes synchronously, because the process ends. Lines that cannot be written within half a second are lost. */
  writeRest(): void {
    let rest = Buffer.concat([this.#block, this.#takeLines()]);
    for (let tries = 0; rest.length > 0 && tries < LAST_TRIES;) {
      try {
        rest = rest.subarray(writeSync(STANDARD_OUTPUT, rest));
      } catch (error) {
        if (!isBehind(error)) return;
        tries += 1;
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_MS);
      }
    }
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setTimeout(() => {
      this.#scheduled = false;
      this.#flush();
    }, FLUSH_AFTER_MS);
  }

  #flush(): void {
    if (this.#block.length > 0 || this.#waiting === 0) return;
    this.#block = this.#takeLines();
    this.#writeBlock();
  }

  #takeLines(): Buffer {
    const text = this.#lines.join("");
    this.#lines = [];
    this.#waiting = 0;
    return Buffer.from((this.#brokeOff ? "\n" : "") + this.#reportLoss() + text);
  }

  #reportLoss(): string {
    if (this.#lostLines === 0) return "";
    const loss = this.#describeLoss(this.#lostLines);
    this.#lostLines = 0;
    return loss;
  }

  #writeBlock(): void {
    write(STANDARD_OUTPUT, this.#block, (error, written) => {
      if (error === null) this.#wrote(written);
      else if (isBehind(error)) setTimeout(() => this.#writeBlock(), RETRY_MS).unref();
      else this.#loseBlock();
    });
  }

  #wrote(bytes: number): void {
    this.#brokeOff = bytes < this.#block.length;
    this.#block = this.#block.subarray(bytes);
    if (this.#block.length > 0) this.#writeBlock();
    else this.#flush();
  }

  #loseBlock(): void {
    this.#lostLines += this.#block.filter((byte) => byte === 0x0a).length;
    this.#block = Buffer.alloc(0);
    if (this.#waiting > 0) this.#schedule();
  }
}

/** Whether the pipe is full because its reader is slow. */
function isBehind(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === "EAGAIN";
}
