import { acceptedLanguage, findLanguage, type Language, LANGUAGE_MEMBER } from "../../languages/language.ts";
import type { JsonObject } from "./parse-body.ts";

/** What a post says about the language of its visitor, besides the fields of the form. */
interface LanguageHints {
  readonly body: JsonObject;
  /** The language that the owner chose for the endpoint; null if none. */
  readonly ofEndpoint: Language | null;
  readonly acceptLanguage: string | undefined;
}

/**
 * Returns the language for later answers to the visitor: the one that the post names, else, if the endpoint has no language, the first
 * known one of `Accept-Language`; null if there is none. It is computed only when it is needed.
 */
export function visitorLanguage({ body, ofEndpoint, acceptLanguage }: LanguageHints): () => Language | null {
  const named = Object.hasOwn(body, LANGUAGE_MEMBER) ? body[LANGUAGE_MEMBER] : null;
  return () => findLanguage(named) ?? (ofEndpoint === null ? acceptedLanguage(acceptLanguage) : null);
}
