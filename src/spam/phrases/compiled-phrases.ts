import { readLanguages } from "./languages.ts";
import { type CompiledPhrases, compilePhrases } from "./compile-phrases.ts";

/** The compiled phrase patterns of all languages. The build replaces this module: the executable has the patterns compiled and packed. */
export function readCompiledPhrases(): CompiledPhrases {
  return compilePhrases(readLanguages());
}
