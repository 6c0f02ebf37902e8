import { readLanguages } from "./languages.ts";
import { type LaidTurns, layTurns } from "./lay-turns.ts";

/** The turns of all languages. They are laid when the executable is built, which has them packed in place of this module. */
export function readLaidTurns(): LaidTurns {
  return layTurns(readLanguages());
}
