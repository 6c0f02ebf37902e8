import type { Link } from "./links.ts";

/**
 * Marks that replace parts of a text. They are characters of the private use area, so that no word of a text can be mistaken for a mark.
 */
export const LINK_MARK = "\ue000";
const EMAIL_MARK = "\ue001";
export const MONEY_MARK = "\ue002";
/** The marks of numbers with up to 2 characters, with up to 4, and with more. */
export const NUMBER_MARKS = ["\ue003", "\ue004", "\ue005"] as const;

/**
 * Converts a text to the form that is compared and searched: compatibility forms and look-alike letters are replaced by plain letters,
 * upper case by lower case, and links, e-mail addresses, sums of money and numbers by marks. `links` are the links of this text.
 */
export function normaliseText(text: string, links: readonly Link[]): string {
  let plain = "";
  let at = 0;
  for (const link of links) {
    plain += `${text.slice(at, link.start)} ${LINK_MARK} `;
    at = link.start + link.length;
  }
  plain += text.slice(at);
  if (!ASCII.test(plain)) plain = foldLookalikes(plain.normalize("NFKC").replace(INVISIBLE, ""));
  if (plain.includes("&")) plain = plain.replace(ENTITY, unescapeEntity);
  if (plain.includes("@")) plain = plain.replace(EMAIL, EMAIL_MARK);
  return plain.toLowerCase().replace(AMOUNT, markAmount);
}

/** The largest number of links whose words are used; further addresses say nothing new. */
const MAX_WORDED_LINKS = 3;
const LINK_WORD = /[a-z]{3,20}/g;
const NO_LINK_WORDS = new Set(["http", "https", "www", "html", "php", "htm", "aspx"]);

/** Appends the words in the addresses of the text's links, without their top-level domains. */
export function withLinkWords(normalised: string, links: readonly Link[]): string {
  let text = normalised;
  for (const { shown, topLevel } of links.slice(0, MAX_WORDED_LINKS)) {
    const words = shown.toLowerCase().replace(`.${topLevel}`, " ").match(LINK_WORD) ?? [];
    for (const word of words) if (!NO_LINK_WORDS.has(word)) text += ` ${word}`;
  }
  return text;
}

const ASCII = /^[\x00-\x7f\ue000]*$/;
const INVISIBLE = /\p{Default_Ignorable_Code_Point}/gu;
const EMAIL = /[\p{L}\p{N}._%+-]{1,64}@[\p{L}\p{N}.-]{1,255}/gu;
const AMOUNT =
  /(?:[$€£¥₽₹₺] ?)?\d[\d.,:/-]*(?: ?(?:[$€£¥₽₹₺%]|usd\b|eur\b|euros?\b|gbp\b|btc\b|dollars?\b|руб))?/g;
const CURRENCY = /[$€£¥₽₹₺]|[a-zр]/;
const ENTITY = /&(?:amp|lt|gt|quot|nbsp|#39|apos);/g;
const ENTITIES: Readonly<Record<string, string>> = { "&lt;": "<", "&gt;": ">", "&quot;": '"', "&nbsp;": " " };

function unescapeEntity(entity: string): string {
  return ENTITIES[entity] ?? (entity === "&amp;" ? "&" : "'");
}

function markAmount(amount: string): string {
  if (CURRENCY.test(amount)) return ` ${MONEY_MARK} `;
  if (amount.length <= 2) return NUMBER_MARKS[0];
  return amount.length <= 4 ? NUMBER_MARKS[1] : NUMBER_MARKS[2];
}

const WORD = /[\p{L}\p{M}]{2,}/gu;
const LATIN = /[a-zA-Z]/;
const CYRILLIC_OR_GREEK = /[\u0370-\u03ff\u0400-\u04ff]/;

/**
 * Replaces letters of other alphabets that look like Latin ones, in words that mix two alphabets. Words of one alphabet stay as they are.
 */
function foldLookalikes(text: string): string {
  if (!CYRILLIC_OR_GREEK.test(text)) return text;
  return text.replace(WORD, (word) =>
    LATIN.test(word) && CYRILLIC_OR_GREEK.test(word)
      ? word.replace(/[\u0370-\u04ff]/g, (letter) => LOOKALIKES[letter] ?? letter)
      : word,
  );
}

const FOREIGN = "авсеһніјкмоԛѕтухԝгпԁАВСЕНІЈКМОРЅТУХрαβεηικνορτυχγωΑΒΕΗΙΚΜΝΟΡΤΥΧΖ";
const LATIN_TWINS = "abcehnijkmoqstyxwrndABCEHIJKMOPSTYXpabenikvoptuxywABEHIKMNOPTYXZ";
const LOOKALIKES: Readonly<Record<string, string>> = Object.fromEntries(
  Array.from(FOREIGN, (letter, index) => [letter, LATIN_TWINS.charAt(index)]),
);
