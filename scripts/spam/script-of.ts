const SCRIPTS: readonly (readonly [string, Readonly<RegExp>])[] = [
  ["Chinese and Japanese", /[\u3040-\u30ff\u3400-\u9fff]/],
  ["Korean", /[\uac00-\ud7a3]/],
  ["Thai, Burmese, Khmer, Lao", /[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]/],
  ["Hebrew and Arabic letters", /[\u0590-\u08ff]/],
  ["scripts of India", /[\u0900-\u0dff]/],
  ["Greek", /[\u0370-\u03ff]{2}/],
  ["Cyrillic", /[\u0400-\u04ff]{2}/],
];

/** The script that says most about the language of a text: the first one in the list that the text contains, or else Latin letters. */
export function scriptOf(text: string): string {
  return SCRIPTS.find(([, letters]) => letters.test(text))?.[0] ?? "Latin letters";
}
