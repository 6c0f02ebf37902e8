/**
 * Turns a message of a feature into a sentence. Messages begin with a small letter and end without a full stop, as a terminal shows them.
 */
export function sentence(message: string): string {
  const words = pageWords(message);
  const begun = PLAIN_WORD.test(words) ? words.charAt(0).toUpperCase() + words.slice(1) : words;
  return /[.!?]$/.test(begun) ? begun : `${begun}.`;
}

/** Matches a plain word at the beginning. An address or an id there keeps its letters. */
const PLAIN_WORD = /^[\p{L}’'-]+(?:[,.:;]?\s|$)/u;

/** A placeholder by the name that pages have for it, and by that of the command line. */
const BOTH_NAMES = "{form}, {endpoint}";

/** Matches texts in quotes and names in braces, which are somebody else's words and stay as they are, and the command line's words for a form and a site. */
const OTHER_WORDS = /"[^"]*"|“[^”]*”|\{[^{}]*\}|\b(an )?(endpoint|origin)(s?)\b/gi;

/** Rewrites a message in the words of the pages. The pages say form and site; the command line says endpoint and origin. */
export function pageWords(message: string): string {
  return message
    .replace(BOTH_NAMES, "{form}")
    .replaceAll(OTHER_WORDS, (whole, article?: string, noun?: string, plural?: string) => {
      if (noun === undefined) return whole;
      const word = noun.toLowerCase() === "endpoint" ? "form" : "site";
      const begun = article === undefined ? word : `a ${word}`;
      const isCapital = whole.charAt(0) !== whole.charAt(0).toLowerCase();
      return (isCapital ? begun.charAt(0).toUpperCase() + begun.slice(1) : begun) + (plural ?? "");
    });
}
