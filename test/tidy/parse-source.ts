import { ts } from "@ts-morph/common";
import type { SourceFile } from "./source-rules.ts";

/** The file that was parsed last. Two rules look at one file after the other, and to keep all would take hundreds of megabytes. */
let last: ts.SourceFile | null = null;

/** Parses a source, without its comments. */
export function parseSource({ path, text }: SourceFile): ts.SourceFile {
  if (last?.fileName !== path || last.text !== text) {
    const options = {
      languageVersion: ts.ScriptTarget.Latest,
      jsDocParsingMode: ts.JSDocParsingMode.ParseNone,
    };
    last = ts.createSourceFile(path, text, options, true);
  }
  return last;
}
