import type { Socket } from "node:net";

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const DIGIT_ONE = 0x31;
const DIGIT_THREE = 0x33;
/** The number of characters up to the end of the status. */
const STATUS_LINE_START_LENGTH = "HTTP/1.1 100".length;
/** The number of characters before the status. */
const BEFORE_STATUS_LENGTH = "HTTP/1.1 ".length;

/**
 * Accepts a `100 Continue` that was not asked for, as RFC 9110 section 15.2 requires. undici treats it as a broken answer but accepts other
 * interim answers, so it is changed to a 103. Nothing else of an answer changes. Call this before anything is read. Each request on the
 * connection must wait for the answer to the one before.
 */
export function tolerateContinue(socket: Socket): void {
  const reader = new HeadReader();
  const read = socket.read.bind(socket) as (size?: number) => Buffer | null;
  socket.read = (size?: number) => {
    const chunk = read(size);
    if (chunk !== null) reader.mend(chunk);
    return chunk;
  };
  const write = socket.write.bind(socket) as Write;
  // The parameters are named, not gathered in an array, because this is called several times for each request.
  const writeNoted: Write = (chunk, encoding, callback) => {
    reader.expectAnswer();
    return write(chunk, encoding, callback);
  };
  socket.write = writeNoted;
}

type Write = (chunk: unknown, encoding?: unknown, callback?: unknown) => boolean;

function isLineEnd(byte: number | undefined): boolean {
  return byte === CARRIAGE_RETURN || byte === LINE_FEED;
}

/** Whether a final answer begins here: one character of its status is enough, for nearly every answer. False if that is not certain yet. */
function beginsFinalAnswer(chunk: Buffer): boolean {
  return (
    chunk.length >= STATUS_LINE_START_LENGTH &&
    !isLineEnd(chunk[0]) &&
    chunk[BEFORE_STATUS_LENGTH] !== DIGIT_ONE
  );
}

/** Follows the interim answers before the final answer, however the bytes are split. */
class HeadReader {
  #state: "status line" | "interim head" | "answer" = "status line";
  #statusLine = "";
  /** The number of characters in the current line of an interim answer's head. */
  #lineLength = 0;

  expectAnswer(): void {
    this.#state = "status line";
    this.#statusLine = "";
  }

  /** Changes the status 100 to 103 in place. */
  mend(chunk: Buffer): void {
    if (this.#statusLine === "" && beginsFinalAnswer(chunk)) this.#state = "answer";
    for (let at = 0; at < chunk.length && this.#state !== "answer"; at += 1) {
      const byte = chunk[at] ?? 0;
      if (this.#state === "interim head") this.#readHead(byte);
      else if (this.#endsContinue(byte)) chunk[at] = DIGIT_THREE;
    }
  }

  /** Whether this byte is the last digit of the status 100. */
  #endsContinue(byte: number): boolean {
    if (isLineEnd(byte) && this.#statusLine === "") return false;
    this.#statusLine += String.fromCharCode(byte);
    if (this.#statusLine.length < STATUS_LINE_START_LENGTH) return false;
    this.#state = /^HTTP\/1\.\d 1\d\d$/.test(this.#statusLine) ? "interim head" : "answer";
    this.#lineLength = this.#statusLine.length;
    return this.#state === "interim head" && this.#statusLine.endsWith(" 100");
  }

  #readHead(byte: number): void {
    if (byte === CARRIAGE_RETURN) return;
    if (byte !== LINE_FEED) this.#lineLength += 1;
    else if (this.#lineLength > 0) this.#lineLength = 0;
    else this.expectAnswer();
  }
}
