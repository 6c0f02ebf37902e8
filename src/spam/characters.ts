export const SPACE = 32;

/** Whether a character is white space, as `\s` has it, but without a regular expression. */
export function isWhitespace(code: number): boolean {
  if (code <= 0x20) return code === 0x20 || (code >= 0x09 && code <= 0x0d);
  if (code < 0x1680) return code === 0xa0;
  if (code >= 0x2000 && code <= 0x200a) return true;
  return (
    code === 0x1680 ||
    code === 0x2028 ||
    code === 0x2029 ||
    code === 0x202f ||
    code === 0x205f ||
    code === 0x3000 ||
    code === 0xfeff
  );
}

export function isAsciiLetter(code: number): boolean {
  const small = code | 32;
  return small >= 97 && small <= 122;
}

/**
 * Whether a character belongs to a word: a letter of any script, a mark or an apostrophe. It compares ranges, which is exact enough for
 * hashing, and much faster than a property class.
 */
export function isWordCharacter(code: number): boolean {
  if (code < 128) return (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || code === 39;
  if (code < 0xc0) return false;
  if (code >= 0x2000 && code <= 0x2bff) return false;
  if (code >= 0x3000 && code <= 0x303f) return false;
  return code < 0xff00 || code > 0xff20;
}

/** A letter of a script that writes no spaces between words. Korean is not among them, because it has spaces; neither is Khmer. */
export const UNSPACED = /[\u0e00-\u0eff\u1000-\u109f\u3040-\u30ff\u3400-\u9fff]/;

/**
 * Whether the text model reads a character's script in pieces: a script without spaces between words (Thai, Burmese, Khmer, Japanese,
 * Chinese), or Korean, whose words have many endings.
 */
export function isUnspaced(code: number): boolean {
  if (code < 0x0e00) return false;
  if (code <= 0x0eff || (code >= 0x1000 && code <= 0x109f) || (code >= 0x1780 && code <= 0x17ff)) return true;
  return (code >= 0x3040 && code <= 0x9fff) || (code >= 0xac00 && code <= 0xd7a3);
}
