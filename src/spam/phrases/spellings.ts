/** Letters without an accent to remove, and the letters that people type who do not have such a key. */
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

/** Letters of Latin, Greek, Russian and Arabic words that may be typed in another way, and the apostrophe. */
const CHANGEABLE = /['\u00c0-\u024f\u0370-\u03ff\u0451\u0620-\u06ff\u1e00-\u1eff]/g;
const PLAIN_LETTER = /[ßłøæœđıёأإآةىیک]/g;
const UMLAUT = /[äöüøå]/g;
/** Letters whose accent may be left out. In any other alphabet a mark makes a different letter. */
const LOSES_ACCENT = /[a-zα-ω]/;

/** The spellings of a word that people use: as it is, without accents, with two letters for an umlaut, and without the apostrophe. */
export function spellingsOf(word: string): readonly string[] {
  if (word.search(CHANGEABLE) < 0) return [word];
  const plain = word.replace(CHANGEABLE, withoutAccent);
  const spellings = plain === word ? [word] : [word, plain];
  if (word.search(UMLAUT) >= 0) {
    const typed = word.replace(UMLAUT, (letter) => UMLAUTS[letter] ?? letter);
    spellings.push(typed.replace(PLAIN_LETTER, (letter) => PLAIN_LETTERS[letter] ?? letter));
  }
  return word.includes("'")
    ? [...spellings, ...spellings.map((spelling) => spelling.replaceAll("'", " "))]
    : spellings;
}

/** Remembers the result for each letter, because normalising a letter costs as much as all other work on a word. */
const withoutAccents = new Map<string, string>();

function withoutAccent(letter: string): string {
  let plain = withoutAccents.get(letter);
  if (plain === undefined) {
    const [base = letter] = letter.normalize("NFD");
    plain = PLAIN_LETTERS[letter] ?? (LOSES_ACCENT.test(base) ? base : letter);
    withoutAccents.set(letter, plain);
  }
  return plain;
}
