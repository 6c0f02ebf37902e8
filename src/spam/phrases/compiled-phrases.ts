import { readLanguages } from "./languages.ts";
import { type CompiledPhrases, compilePhrases } from "./compile-phrases.ts";

/** The phrase patterns of all languages. They are compiled when the executable is built, which has them packed in place of this module. */
export function readCompiledPhrases(): CompiledPhrases {
  return compilePhrases(readLanguages());
}
