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

const PLAIN = /^[a-zа-яіїє]+$/;
const PLAIN_LETTER = /[ßłøæœđıёأإآةىیک]/g;
const UMLAUT = /[äöüøå]/g;
/** Marks on letters of other alphabets than these make other letters: they stay. */
const ACCENTED = /([a-zα-ω])[\u0300-\u036f]+/g;

/** How people spell a word: as it is, without accents, with two letters for an umlaut, and without an apostrophe. */
export function spellingsOf(word: string): readonly string[] {
  if (PLAIN.test(word)) return [word];
  const spellings = new Set([word]);
  spellings.add(withPlainLetters(word.normalize("NFD").replace(ACCENTED, "$1").normalize("NFC")));
  spellings.add(withPlainLetters(word.replace(UMLAUT, (letter) => UMLAUTS[letter] ?? letter)));
  return [...new Set([...spellings, ...Array.from(spellings, (spelling) => spelling.replaceAll("'", " "))])];
}

function withPlainLetters(word: string): string {
  return word.replace(PLAIN_LETTER, (letter) => PLAIN_LETTERS[letter] ?? letter);
}
