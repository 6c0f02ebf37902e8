import type { Command } from "commander";
import type { SourceFile } from "./source-rules.ts";

/** A command in a text: from the program's name to the end of the line, of the code span or of the sentence. */
const MENTION = /(?:^|[\s"'`(:;/>])formsvc ((?:[a-z-]+)(?: [^\n`;|()<]*)?)/gm;
/** English words that follow the program's name in a sentence. */
const PROSE = new Set([
  "is",
  "a",
  "are",
  "as",
  "can",
  "does",
  "for",
  "has",
  "in",
  "needs",
  "of",
  "on",
  "or",
  "and",
  "to",
  "the",
  "with",
  "runs",
  "that",
  "which",
  "database",
  "executable",
  "server",
  "completion",
]);

/** Finds commands and flags in a text that the program does not have. Returns one line for each. */
export function findUnknownCommands(program: Command, { path, text }: SourceFile): readonly string[] {
  return [...text.matchAll(MENTION)].flatMap(([, mention = ""]) => {
    const problem = findProblem(program, mention.trim().split(/\s+/));
    return problem === null ? [] : [`${path}: formsvc ${mention.trim()}: ${problem}`];
  });
}

/** Finds the commands in a file's code, and returns one line for each. Comments may say which command something is for. */
export function findMentions(program: Command, { path, text }: SourceFile): readonly string[] {
  const code = text.replaceAll(/^ *(?:\/?\*|\/\/).*$/gm, "");
  return [...code.matchAll(MENTION)].flatMap(([, mention = ""]) =>
    findProblem(program, mention.split(/[\s"',]+/)) === null && !isProse(mention)
      ? [`${path}: formsvc ${mention}`]
      : [],
  );
}

function isProse(mention: string): boolean {
  return PROSE.has(mention.split(" ")[0] ?? "");
}

function findProblem(program: Command, words: readonly string[]): string | null {
  const [noun = "", verb = ""] = words;
  if (noun === "help" || noun.startsWith("-") || isProse(noun)) return null;
  const command = program.commands.find((each) => each.name() === noun);
  if (command === undefined) return `no command ${noun}`;
  if (command.commands.length === 0) return findFlagProblem(command, words);
  if (!/^[a-z-]+$/.test(verb)) return null;
  const leaf = command.commands.find((each) => each.name() === verb);
  return leaf === undefined ? `no verb ${verb}` : findFlagProblem(leaf, words);
}

function findFlagProblem(command: Command, words: readonly string[]): string | null {
  const known = new Set(["--help", ...command.options.map(({ long }) => long)]);
  const flags = words.map((word) => /^(--[a-z-]+)/.exec(word)?.[1]).filter((flag) => flag !== undefined);
  const unknown = flags.find((flag) => !known.has(flag));
  return unknown === undefined ? null : `no flag ${unknown}`;
}
