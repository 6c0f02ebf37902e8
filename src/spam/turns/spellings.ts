/** Letters that lose no accent, and what people type who have no such key. */
const PLAIN_LETTERS: Readonly<Record<string, string>> = {
  ß: "ss",
  ł: "l",
  ø: "o",
  æ: "ae",
  œ: "oe",
  đ: "d",
  ı: "i",
  ё: "е",
  أ: "ا",
  إ: "ا",
  آ: "ا",
  ة: "ه",
  ى: "ي",
  ی: "ي",
  ک: "ك",
};
const UMLAUTS: Readonly<Record<string, string>> = { ä: "ae", ö: "oe", ü: "ue", ø: "oe", å: "aa" };

/** Letters of Latin, Greek, Russian and Arabic words that may be spelled in another way, and the apostrophe. */
const CHANGEABLE = /['\u00c0-\u024f\u0370-\u03ff\u0451\u0620-\u06ff\u1e00-\u1eff]/;
const PLAIN_LETTER = /[ßłøæœđıёأإآةىیک]/g;
const UMLAUT = /[äöüøå]/g;
/** Marks on letters of other alphabets than these make other letters: they stay. */
const ACCENTED = /([a-zα-ω])[\u0300-\u036f]+/g;

/** How people spell a word: as it is, without accents, with two letters for an umlaut, and without an apostrophe. */
export function spellingsOf(word: string): readonly string[] {
  if (!CHANGEABLE.test(word)) return [word];
  const plain = withPlainLetters(word.normalize("NFD").replace(ACCENTED, "$1").normalize("NFC"));
  const spellings = plain === word ? [word] : [word, plain];
  if (word.search(UMLAUT) >= 0) {
    spellings.push(withPlainLetters(word.replace(UMLAUT, (letter) => UMLAUTS[letter] ?? letter)));
  }
  return word.includes("'")
    ? [...spellings, ...spellings.map((spelling) => spelling.replaceAll("'", " "))]
    : spellings;
}

function withPlainLetters(word: string): string {
  return word.replace(PLAIN_LETTER, (letter) => PLAIN_LETTERS[letter] ?? letter);
}
