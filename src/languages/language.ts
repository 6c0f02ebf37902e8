/** The tags of the languages in which visitors and recipients can read their texts. */
export const LANGUAGES = [
  "ar",
  "cs",
  "da",
  "de",
  "el",
  "en",
  "es",
  "fi",
  "fr",
  "he",
  "it",
  "ja",
  "ko",
  "nl",
  "pl",
  "pt",
  "ru",
  "sv",
  "tr",
  "uk",
  "zh",
] as const;

export type Language = (typeof LANGUAGES)[number];

/** The control member in which a form says its visitor's language. */
export const LANGUAGE_MEMBER = "_language";

/** The longest tag, in characters: RFC 5646 asks for room for 35. */
const MAX_TAG_LENGTH = 35;
const TAG = /^([a-z]{2,3})(?:-[a-z0-9]{1,8})*$/i;
/** Other tags for the same languages: former ones of RFC 5646, and those of a language within a group. */
const OTHER_TAGS: Readonly<Record<string, Language>> = { iw: "he", cmn: "zh", arb: "ar" };
/** The largest number of entries of an Accept-Language header that are read. */
const MAX_ENTRIES = 20;

/** The language of a tag like `de` or `pt-BR`; null if the text is no such tag, or there are no texts in its language. */
export function findLanguage(tag: unknown): Language | null {
  if (typeof tag !== "string" || tag.length > MAX_TAG_LENGTH) return null;
  const main = TAG.exec(tag)?.[1]?.toLowerCase() ?? "";
  return (
    LANGUAGES.find((each) => each === main) ??
    (Object.hasOwn(OTHER_TAGS, main) ? (OTHER_TAGS[main] ?? null) : null)
  );
}

/** The first language of an Accept-Language header, by its weights, that there are texts in; null if there is none. */
export function acceptedLanguage(header: string | undefined): Language | null {
  if (header === undefined) return null;
  const entries = header.split(",", MAX_ENTRIES).map(readEntry);
  const spoken = entries.filter(({ language, weight }) => language !== null && weight > 0);
  return spoken.sort((left, right) => right.weight - left.weight)[0]?.language ?? null;
}

function readEntry(entry: string): { readonly language: Language | null; readonly weight: number } {
  const [tag = "", ...parameters] = entry.split(";").map((part) => part.trim());
  const given = parameters.find((parameter) => /^q=/i.test(parameter))?.slice(2);
  const weight = given === undefined ? 1 : Number(given);
  return { language: findLanguage(tag), weight: Number.isFinite(weight) ? weight : 0 };
}

export function directionOf(language: Language): "ltr" | "rtl" {
  return language === "ar" || language === "he" ? "rtl" : "ltr";
}
