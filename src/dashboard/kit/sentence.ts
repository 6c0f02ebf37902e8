/** Messages of features begin small and end without a full stop, as a terminal shows them. */
export function sentence(message: string): string {
  const words = pageWords(message);
  const begun = PLAIN_WORD.test(words) ? words.charAt(0).toUpperCase() + words.slice(1) : words;
  return /[.!?]$/.test(begun) ? begun : `${begun}.`;
}

/** At the beginning; an address or an id there stays as it is. */
const PLAIN_WORD = /^[\p{L}’'-]+(?:[,.:;]?\s|$)/u;

/** Texts in quotation marks, which are somebody else's words; and the command line's words for a form and a site. */
const OTHER_WORDS = /"[^"]*"|“[^”]*”|\b(an )?(endpoint|origin)(s?)\b/gi;

/** A message of a feature in the words of the pages: a form is an endpoint on the command line, and a site an origin. */
export function pageWords(message: string): string {
  return message.replaceAll(OTHER_WORDS, (whole, article?: string, noun?: string, plural?: string) => {
    if (noun === undefined) return whole;
    const word = noun.toLowerCase() === "endpoint" ? "form" : "site";
    const begun = article === undefined ? word : `a ${word}`;
    const isCapital = whole.charAt(0) !== whole.charAt(0).toLowerCase();
    return (isCapital ? begun.charAt(0).toUpperCase() + begun.slice(1) : begun) + (plural ?? "");
  });
}
