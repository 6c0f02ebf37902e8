import { readWords } from "../../src/spam/read-words.ts";
import type { LabelledText } from "./texts.ts";

const LETTERS = 27;

/**
 * Computes how usual each pair of the letters a-z is inside the words of the genuine texts. The border of a word counts as a letter. Each
 * of the 27 by 27 bytes is minus the logarithm of the probability of the second letter after the first, in sixteenths. Every source counts
 * the same.
 */
export function letterPairs(texts: readonly LabelledText[]): Uint8Array {
  const counts = new Float64Array(LETTERS * LETTERS).fill(1e-5);
  const sources = Map.groupBy(
    texts.filter((text) => text.label === "ham"),
    (text) => text.source,
  );
  for (const group of sources.values()) {
    const part = countPairs(group);
    const sum = part.reduce((total, count) => total + count, 0);
    part.forEach((count, index) => (counts[index] = (counts[index] ?? 0) + count / sum));
  }
  return new Uint8Array(LETTERS * LETTERS).map((_, index) => {
    const row = Math.floor(index / LETTERS) * LETTERS;
    const sum = counts.slice(row, row + LETTERS).reduce((total, count) => total + count, 0);
    return Math.min(255, Math.round(-16 * Math.log((counts[index] ?? 0) / sum)));
  });
}

function countPairs(texts: readonly LabelledText[]): Float64Array {
  const counts = new Float64Array(LETTERS * LETTERS);
  for (const { text } of texts) {
    const plain = text.slice(0, 2000).normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
    const { count, starts, ends } = readWords(plain);
    for (let index = 0; index < count; index += 1) {
      const word = plain.slice(starts[index], ends[index]);
      if (!/^[a-z]{2,20}$/.test(word)) continue;
      let previous = 0;
      for (const code of Array.from(word, (letter) => letter.charCodeAt(0) - 96).concat(0)) {
        counts[previous * LETTERS + code] = (counts[previous * LETTERS + code] ?? 0) + 1;
        previous = code;
      }
    }
  }
  return counts;
}
