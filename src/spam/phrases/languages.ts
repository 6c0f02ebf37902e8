import { CHINESE, JAPANESE, KOREAN, THAI } from "./eastern.ts";
import { ENGLISH } from "./english.ts";
import { DUTCH, GERMAN, SCANDINAVIAN } from "./germanic.ts";
import type { PhrasePatterns } from "./meanings.ts";
import { ARABIC, HEBREW, PERSIAN } from "./near-eastern.ts";
import { FINNISH, GREEK, HUNGARIAN, TURKISH } from "./other-european.ts";
import { FRENCH, ITALIAN, PORTUGUESE, ROMANIAN, SPANISH } from "./romance.ts";
import { HINDI, INDONESIAN, VIETNAMESE } from "./south-asian.ts";
import { CZECH, POLISH, RUSSIAN, SOUTH_SLAVIC, UKRAINIAN } from "./slavic.ts";

/** The phrase patterns of all languages. */
export function readLanguages(): readonly PhrasePatterns[] {
  return [
    ENGLISH,
    GERMAN,
    DUTCH,
    SCANDINAVIAN,
    FRENCH,
    SPANISH,
    PORTUGUESE,
    ITALIAN,
    ROMANIAN,
    RUSSIAN,
    UKRAINIAN,
    POLISH,
    CZECH,
    SOUTH_SLAVIC,
    HUNGARIAN,
    FINNISH,
    GREEK,
    TURKISH,
    HEBREW,
    ARABIC,
    PERSIAN,
    HINDI,
    INDONESIAN,
    VIETNAMESE,
    CHINESE,
    JAPANESE,
    KOREAN,
    THAI,
  ];
}
