import { FormsvcError } from "../../foundation/errors.ts";

/** One record of a table. */
export interface CsvRecord {
  /** The number of the line on which the record begins; the first line is 1. */
  readonly line: number;
  readonly cells: readonly string[];
  /** What is wrong with the quotes of the record; null if nothing is. */
  readonly problem: string | null;
}

/** The separators that a table may have. */
const SEPARATORS = [",", ";", "\t", "|"] as const;
/** The largest length of a record, in UTF-16 units; every post is shorter. */
const MAX_RECORD_LENGTH = 4_194_304;
/** The number of UTF-16 units of the first line in which the separator is looked for. */
const LOOKED_AT_LENGTH = 65_536;
const MAX_CELLS = 2000;

/**
 * Reads the records of a CSV (RFC 4180) while its text arrives. Lines may end without a carriage return, and empty lines are skipped. The
 * separator is the one that occurs most often in the first line, or in the beginning of a very long one. At most one record is in memory.
 *
 * @throws usage naming the line of a quote that is never closed, or of a record that is too large
 */
export async function* readCsv(chunks: Iterable<string> | AsyncIterable<string>): AsyncGenerator<CsvRecord> {
  const reader = new RecordReader();
  for await (const chunk of chunks) yield* reader.take(chunk);
  yield* reader.end();
}

/** The state between two characters: outside quotes, inside quotes, or after a quote that may close them. */
type ReadState = "plain" | "quoted" | "closing";

class RecordReader {
  #unread = "";
  #separator: string | null = null;
  #state: ReadState = "plain";
  #cells: string[] = [];
  #cell = "";
  #wasQuoted = false;
  #line = 1;
  #began = 1;
  #length = 0;
  #problem: string | null = null;

  *take(chunk: string): Generator<CsvRecord> {
    if (this.#separator !== null) {
      yield* this.#read(chunk, this.#separator);
      return;
    }
    this.#unread += chunk;
    const end = endOfFirstLine(this.#unread.slice(0, LOOKED_AT_LENGTH));
    if (end === -1 && this.#unread.length <= LOOKED_AT_LENGTH) return;
    this.#separator = separatorOf(this.#unread.slice(0, end === -1 ? LOOKED_AT_LENGTH : end));
    const text = this.#unread;
    this.#unread = "";
    yield* this.#read(text, this.#separator);
  }

  *end(): Generator<CsvRecord> {
    yield* this.#read(this.#unread, this.#separator ?? separatorOf(this.#unread));
    if (this.#state === "quoted") throw unclosed(this.#began);
    if (this.#length > 0) yield this.#endRecord();
  }

  *#read(text: string, separator: string): Generator<CsvRecord> {
    for (let at = 0; at < text.length;) {
      const stop = this.#state === "quoted" ? nextQuote(text, at) : nextPlain(text, at, separator);
      if (stop > at) this.#add(text.slice(at, stop));
      at = stop;
      if (at < text.length) {
        const record = this.#takeSign(text[at] ?? "", separator);
        if (record !== null) yield record;
        at += 1;
      }
    }
  }

  /** Returns the record that the sign ends, or null. */
  #takeSign(sign: string, separator: string): CsvRecord | null {
    let record: CsvRecord | null = null;
    if (this.#state === "quoted") {
      this.#state = "closing";
      this.#lengthen(1);
    } else if (sign === '"') this.#takeQuote();
    else if (sign === separator) this.#endCell();
    else if (sign === "\n") {
      if (this.#length > 0) record = this.#endRecord();
      this.#line += 1;
      this.#began = this.#line;
    }
    // A carriage return outside quotes belongs to the end of the line.
    return record;
  }

  #takeQuote(): void {
    this.#lengthen(1);
    if (this.#state === "closing") {
      this.#cell += '"';
      this.#state = "quoted";
    } else if (this.#cell === "" && !this.#wasQuoted) {
      this.#wasQuoted = true;
      this.#state = "quoted";
    } else this.#cell += '"';
  }

  #add(part: string): void {
    if (this.#state === "closing" || (this.#wasQuoted && this.#state === "plain")) {
      this.#state = "plain";
      if (part.trim() !== "")
        this.#problem ??= "a quote ends in the middle of a cell; write it twice inside quotes";
    }
    if (this.#state === "quoted") this.#line += part.split("\n").length - 1;
    this.#cell += part;
    this.#lengthen(part.length);
  }

  /** @throws usage if the record is too long */
  #lengthen(length: number): void {
    this.#length += length;
    if (this.#length <= MAX_RECORD_LENGTH) return;
    if (this.#state === "quoted") throw unclosed(this.#began);
    throw new FormsvcError(
      "usage",
      `line ${this.#began}: the row has more than ${MAX_RECORD_LENGTH} characters`,
    );
  }

  #endCell(): void {
    this.#cells.push(this.#cell);
    this.#length += 1;
    this.#cell = "";
    this.#wasQuoted = false;
    this.#state = "plain";
    if (this.#cells.length > MAX_CELLS)
      throw new FormsvcError("usage", `line ${this.#began}: the row has more than ${MAX_CELLS} cells`);
  }

  #endRecord(): CsvRecord {
    this.#endCell();
    const record = { line: this.#began, cells: this.#cells, problem: this.#problem };
    this.#cells = [];
    this.#length = 0;
    this.#problem = null;
    return record;
  }
}

const PLAIN_STOPS: Readonly<Record<string, RegExp>> = Object.fromEntries(
  SEPARATORS.map((separator) => [separator, new RegExp(`["\\r\\n\\${separator}]`, "g")]),
);

function nextQuote(text: string, at: number): number {
  const found = text.indexOf('"', at);
  return found === -1 ? text.length : found;
}

function nextPlain(text: string, at: number, separator: string): number {
  // Without this, a file of nothing but signs would take four times as long.
  if ('"\r\n'.includes(text.charAt(at))) return at;
  const stops = PLAIN_STOPS[separator];
  if (stops === undefined) return nextQuote(text, at);
  stops.lastIndex = at;
  return stops.exec(text)?.index ?? text.length;
}

/** The index of the end of the first line; -1 if it has not arrived yet. */
function endOfFirstLine(text: string): number {
  let isQuoted = false;
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] === '"') isQuoted = !isQuoted;
    else if (!isQuoted && text[at] === "\n") return at;
  }
  return -1;
}

function separatorOf(line: string): string {
  const outside = line.replaceAll(/"[^"]*"/g, "");
  const count = (sign: string): number => outside.split(sign).length;
  return SEPARATORS.toSorted((one, other) => count(other) - count(one))[0] ?? ",";
}

function unclosed(line: number): FormsvcError {
  return new FormsvcError(
    "usage",
    `line ${line}: a quote is opened here and never closed; nothing was imported`,
  );
}
