import { isUnspaced, isWordCharacter } from "../characters.ts";
import { HASH_BEGIN, mix, step } from "../hashing.ts";
import { LINK_MARK, MONEY_MARK, NUMBER_MARKS } from "../normalise-text.ts";

/** The largest number of tokens that are read of a text: pitches make their offer early. */
const MAX_TOKENS = 1500;

/** The tokens of a number and of a sum of money; {@link ANY} stands for any token. */
const NUMBER = 1;
const MONEY = 2;
export const ANY = 3;

/** The tokens of a text in order, valid until the next text is read. */
export interface Tokens {
  readonly count: number;
  readonly tokens: Readonly<Uint32Array>;
  readonly starts: Readonly<Uint32Array>;
  readonly ends: Readonly<Uint32Array>;
}

const tokens = new Uint32Array(MAX_TOKENS);
const starts = new Uint32Array(MAX_TOKENS);
const ends = new Uint32Array(MAX_TOKENS);

/** Splits a normalised text into tokens. A token is a word, a letter of a script without spaces, a number or a sum of money. */
export function readTokens(text: string): Tokens {
  let count = 0;
  for (let at = 0; at < text.length && count < MAX_TOKENS;) {
    const start = at;
    const code = text.charCodeAt(at);
    at += 1;
    if (!isWordCharacter(code)) continue;
    let token = markedToken(code);
    if (token === 0) {
      let hash = step(HASH_BEGIN, code);
      if (!isUnspaced(code)) {
        for (let next = text.charCodeAt(at); isInWord(next); next = text.charCodeAt(at)) {
          hash = step(hash, next);
          at += 1;
        }
      }
      token = mix(hash);
    }
    tokens[count] = token;
    starts[count] = start;
    ends[count] = at;
    count += 1;
  }
  return { count, tokens, starts, ends };
}

const FIRST = LINK_MARK.charCodeAt(0);
const SUM = MONEY_MARK.charCodeAt(0);
const LAST = NUMBER_MARKS[2].charCodeAt(0);

/** The token of a mark in a normalised text; 0 for any other character. A link or an e-mail address fits only `*` in a phrase. */
function markedToken(code: number): number {
  if (code < FIRST || code > LAST) return 0;
  if (code < SUM) return ANY;
  return code === SUM ? MONEY : NUMBER;
}

/** Whether the character with this code continues a word. The code is NaN beyond the end of the text, which is never in a word. */
function isInWord(code: number): boolean {
  return code > 0 && isWordCharacter(code) && !isUnspaced(code) && (code < FIRST || code > LAST);
}
