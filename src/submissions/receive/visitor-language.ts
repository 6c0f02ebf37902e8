import { acceptedLanguage, findLanguage, type Language, LANGUAGE_MEMBER } from "../../languages/language.ts";
import type { JsonObject } from "./parse-body.ts";

/** What a post tells of its visitor's language besides the fields of the form. */
interface LanguageHints {
  readonly body: JsonObject;
  /** What its endpoint chose. */
  readonly ofEndpoint: Language | null;
  readonly acceptLanguage: string | undefined;
}

/**
 * The language in which whoever posted is answered later: the one that the post names, else the first of `Accept-Language`; null if
 * the endpoint's comes first, or none is spoken here. Nothing is read before somebody asks.
 */
export function visitorLanguage({ body, ofEndpoint, acceptLanguage }: LanguageHints): () => Language | null {
  const named = Object.hasOwn(body, LANGUAGE_MEMBER) ? body[LANGUAGE_MEMBER] : null;
  return () => findLanguage(named) ?? (ofEndpoint === null ? acceptedLanguage(acceptLanguage) : null);
}
