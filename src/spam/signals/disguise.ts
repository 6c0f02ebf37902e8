import type { SpamReason } from "../judge.ts";
import type { ReadPost } from "../read-post.ts";

/** Text made to look like something else: letters of several scripts in one word, characters that do not show. */
export function disguiseReasons(read: ReadPost): SpamReason[] {
  const reasons: SpamReason[] = [];
  const mixed = mixedScriptWords(read.body);
  const [first] = mixed;
  if (first !== undefined) {
    const points = mixed.length >= 2 ? 30 : 10;
    reasons.push({
      signal: "mixed-script",
      points,
      field: null,
      detail: `letters of two alphabets in "${first}"`,
    });
  }
  return reasons;
}

const WORD = /[\p{L}\p{M}]{2,40}/gu;
const LATIN = /[a-z]/i;
const LOOKALIKE = /[\u0370-\u03ff\u0400-\u04ff]/;

function mixedScriptWords(text: string): string[] {
  const words = text.match(WORD) ?? [];
  return words.filter((word) => LATIN.test(word) && LOOKALIKE.test(word));
}
