import { type Language, LANGUAGES } from "../../languages/language.ts";

const NAMES = new Intl.DisplayNames("en", { type: "language" });

/** The English name of a language. */
export function languageName(language: Language): string {
  return NAMES.of(language) ?? language;
}

/** The languages sorted by name. @param without the label of the option for no language */
export function languageOptions(
  without: string,
): readonly { readonly value: string; readonly label: string }[] {
  const named = LANGUAGES.map((language) => ({ value: language, label: languageName(language) }));
  return [{ value: "", label: without }, ...named.sort((a, b) => a.label.localeCompare(b.label))];
}
