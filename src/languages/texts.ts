import type { Language } from "./language.ts";
import { ar } from "./texts/ar.ts";
import { cs } from "./texts/cs.ts";
import { da } from "./texts/da.ts";
import { de } from "./texts/de.ts";
import { el } from "./texts/el.ts";
import { en, type Texts } from "./texts/en.ts";
import { es } from "./texts/es.ts";
import { fi } from "./texts/fi.ts";
import { fr } from "./texts/fr.ts";
import { he } from "./texts/he.ts";
import { it } from "./texts/it.ts";
import { ja } from "./texts/ja.ts";
import { ko } from "./texts/ko.ts";
import { nl } from "./texts/nl.ts";
import { pl } from "./texts/pl.ts";
import { pt } from "./texts/pt.ts";
import { ru } from "./texts/ru.ts";
import { sv } from "./texts/sv.ts";
import { tr } from "./texts/tr.ts";
import { uk } from "./texts/uk.ts";
import { zh } from "./texts/zh.ts";

const TEXTS: Readonly<Record<Language, Texts>> = {
  ar,
  cs,
  da,
  de,
  el,
  en,
  es,
  fi,
  fr,
  he,
  it,
  ja,
  ko,
  nl,
  pl,
  pt,
  ru,
  sv,
  tr,
  uk,
  zh,
};

/**
 * Reads the texts of a language. In the executable they are packed, and each language is unpacked when it is first needed
 * (scripts/executable.ts).
 */
export function readTexts(language: Language): Texts {
  return TEXTS[language];
}
