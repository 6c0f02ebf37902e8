/** The first size of the buffer, enough for most texts; it grows for a longer one. */
const LEAST_LENGTH = 8192;

/**
 * Holds the UTF-16 units of one text at a time, in memory that is used again. Several readers look at each character, and reading it from
 * the string costs the processor seven times as much as reading it from here.
 */
export class TextCodes {
  #codes = new Uint16Array(LEAST_LENGTH);
  #bytes = Buffer.from(this.#codes.buffer);

  /** Returns the units of the text, followed by old ones. Valid until the next call. */
  read(text: string): Readonly<Uint16Array> {
    if (text.length > this.#codes.length) {
      this.#codes = new Uint16Array(2 * text.length);
      this.#bytes = Buffer.from(this.#codes.buffer);
    }
    // All platforms of the program are little-endian, as this encoding is.
    this.#bytes.write(text, "utf16le");
    return this.#codes;
  }
}
