/** Room for most texts; a longer one gets more. */
const LEAST_LENGTH = 8192;

/**
 * The UTF-16 units of one text after the other, in memory that is used again. Each character of a text is looked at by several readers,
 * and taking it from the string costs the processor seven times as much as taking it from here.
 */
export class TextCodes {
  #codes = new Uint16Array(LEAST_LENGTH);
  #bytes = Buffer.from(this.#codes.buffer);

  /** As many units as the text has, and old ones behind them. Valid until the next call. */
  read(text: string): Readonly<Uint16Array> {
    if (text.length > this.#codes.length) {
      this.#codes = new Uint16Array(2 * text.length);
      this.#bytes = Buffer.from(this.#codes.buffer);
    }
    // All platforms of the program store the lower byte first.
    this.#bytes.write(text, "utf16le");
    return this.#codes;
  }
}
