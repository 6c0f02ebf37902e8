import { type Language, LANGUAGES } from "../../languages/language.ts";

const NAMES = new Intl.DisplayNames("en", { type: "language" });

/** In English. */
export function languageName(language: Language): string {
  return NAMES.of(language) ?? language;
}

/** The languages in the order of their names. @param without the words for none of them. */
export function languageOptions(
  without: string,
): readonly { readonly value: string; readonly label: string }[] {
  const named = LANGUAGES.map((language) => ({ value: language, label: languageName(language) }));
  return [{ value: "", label: without }, ...named.sort((a, b) => a.label.localeCompare(b.label))];
}
