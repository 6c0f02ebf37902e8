/**
 * The longest text that is written anew, in UTF-16 units; a longer one is compared without its case and the white space around it only.
 * A name or an address is shorter. To sort the marks of one letter takes time with the square of their number: 1 ms for this length.
 */
const MAX_FOLDED = 1000;

const ASCII = /^[\0-\x7f]*$/;
/** Characters that nobody sees: soft hyphens, joiners, marks of direction and the like. */
const UNSEEN = /[\p{Default_Ignorable_Code_Point}\p{Cc}]+/gu;
/** Letters that differ by their case alone, and that `toLowerCase` leaves apart. */
const ALIKE: Readonly<Record<string, string>> = { ß: "ss", ς: "σ", ı: "i", "i\u0307": "i" };

/**
 * A text in the form in which two texts are equal if people take them for the same: whatever the case of the letters, whether an accent is a
 * character of its own, in full or half width, as a ligature or not, and whatever the white space is. Accents themselves make a difference.
 */
export function comparable(text: string): string {
  const trimmed = text.trim();
  if (trimmed.length > MAX_FOLDED) return trimmed.toLowerCase();
  if (ASCII.test(trimmed)) return inOneLine(trimmed.toLowerCase());
  const folded = trimmed
    .normalize("NFKC")
    .toLowerCase()
    .replace(/[ßςı]|i\u0307/g, (letter) => ALIKE[letter] ?? letter);
  // Lower case can leave an accent beside its letter again.
  return inOneLine(folded.normalize("NFKC"));
}

function inOneLine(text: string): string {
  return text.replace(/\s+/g, " ").replace(UNSEEN, "").trim();
}
