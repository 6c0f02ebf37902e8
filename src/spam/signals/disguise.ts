import type { SpamReason } from "../spam-verdict.ts";
import { POINTS } from "../points.ts";
import type { ReadPost } from "../read-post.ts";
import { findRandomWords } from "../random-word.ts";

/** The largest number of characters that are searched for disguises. A text has them everywhere or nowhere. */
const MAX_SEARCHED = 4000;

/** Signals of text that is made to look like other text, or that is invisible. */
export function disguiseReasons(read: ReadPost): SpamReason[] {
  const reasons: SpamReason[] = [];
  const reason = (signal: string, points: number, detail: string): void => {
    reasons.push({ signal, points, field: null, detail });
  };
  const text = read.body.slice(0, MAX_SEARCHED);
  const random = randomText(text);
  if (random !== null) reason("random-text", POINTS["random-text"], `random letters: ${random}`);
  if (ASCII.test(text)) return reasons;
  const mixed = new Set(mixedScriptWords(text));
  const [word] = mixed;
  if (word !== undefined) {
    const { once, often } = POINTS["mixed-script"];
    reason("mixed-script", mixed.size >= 2 ? often : once, `letters of two alphabets in "${word}"`);
  }
  if (hasHiddenCharacters(text))
    reason("hidden-characters", POINTS["hidden-characters"], "characters that do not show inside words");
  if (isFancy(text)) reason("fancy-letters", POINTS["fancy-letters"], "ordinary letters written as symbols");
  return reasons;
}

const ASCII = /^[\x00-\x7f]*$/;
const WORD = /[\p{L}\p{M}]{3,40}/gu;
const LATIN = /[a-zA-Z]/g;
const CYRILLIC = /[\u0400-\u04ff]/g;
const GREEK = /[\u0370-\u03ff]/g;
/** Foreign letters that look like Latin ones. If a word has another foreign letter, a person wrote it in two alphabets, such as "PDFка". */
const LOOKALIKE = /^[аеорсухкмнтвіјѕһԁԛԝАВЕКМНОРСТУХІЈЅαοντικρυχωηΑΒΕΗΙΚΜΝΟΡΤΥΧΖпгзлшч]+$/;

function mixedScriptWords(text: string): string[] {
  if (text.match(CYRILLIC) === null && text.match(GREEK) === null) return [];
  return (text.match(WORD) ?? []).filter((word) => {
    const latin = word.match(LATIN)?.length ?? 0;
    const foreign = [...(word.match(CYRILLIC) ?? []), ...(word.match(GREEK) ?? [])];
    if (latin === 0 || foreign.length === 0) return false;
    // Such a word is a unit or a formula: "μm", "Δx".
    if (word.length < 4 && word.match(GREEK) !== null) return false;
    const abbreviation = /^[A-Z]{2,6}[\u0430-\u044f]{1,4}$/.test(word);
    return !abbreviation && (LOOKALIKE.test(foreign.join("")) || latin > 2 * foreign.length);
  });
}

const HIDDEN = /\p{L}[\u00ad\u200b\u2060-\u2064\ufeff]+(?=\p{L})/gu;
const MIN_HIDDEN = 2;
/** Scripts that need invisible characters to join or separate letters or words. */
const JOINED = /[\u0600-\u06ff\u0900-\u0fff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]/;

/** Whether a text has zero-width characters inside words, in a script that does not need them. */
function hasHiddenCharacters(text: string): boolean {
  return !JOINED.test(text) && (text.match(HIDDEN)?.length ?? 0) >= MIN_HIDDEN;
}

const FANCY = /[\u{1d400}-\u{1d7ff}\u24b6-\u24e9\u{1f130}-\u{1f189}]/gu;
const MIN_FANCY = 6;

function isFancy(text: string): boolean {
  return (text.match(FANCY)?.length ?? 0) >= MIN_FANCY;
}

const MAX_RANDOM_TEXT = 300;

/** The first random word, if random words are most of a short text; null otherwise. */
function randomText(text: string): string | null {
  if (text.length > MAX_RANDOM_TEXT) return null;
  const { first, length } = findRandomWords(text);
  return length * 2 > text.length ? first : null;
}
