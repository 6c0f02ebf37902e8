import { write, writeSync } from "node:fs";

/** Takes finished lines, each with its line end. */
export interface LogOutput {
  write(line: string): void;
}

/** Characters of lines that wait for a slow reader; further lines are dropped until it catches up. */
const MAX_WAITING = 4_194_304;
/**
 * Lines are written together: at most this much later, or when they fill a block. Under full load each write costs time,
 * because another thread does it: blocks of 8 KB cost a post 6 microseconds.
 */
const FLUSH_AFTER_MS = 20;
const BLOCK_LENGTH = 65_536;
/** Time until a slow reader is tried again. */
const RETRY_MS = 100;
/** How many times a slow reader is tried again at the end of the process. */
const LAST_TRIES = 5;
const STANDARD_OUTPUT = 1;

/**
 * Standard output, written asynchronously and in blocks: one write for each line would cost a post a tenth of its time. No
 * failure of it ends or delays the process: if its disk is full or its reader gone, lines are lost and counted. No timer
 * runs while nothing is logged; lines that still wait at the end of the process are written then.
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
  /** What is being written; empty when nothing is. */
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

  /** Synchronously, because the process ends; lines that cannot be written within half a second are lost. */
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

/** The pipe is full: its reader has not read what it holds. */
function isBehind(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === "EAGAIN";
}
