import { defaultConfig } from "../../config/config.ts";
import { environmentName } from "../../config/load-config.ts";
import { ERROR_TABLE, type ExitCode } from "../../foundation/errors.ts";

/** The text of `formsvc help <topic>`; null if there is no such topic. */
export function helpTopic(name: string): string | null {
  if (name === "exit-codes") return exitCodes();
  return name === "environment" ? environment() : null;
}

const MEANINGS: Readonly<Record<ExitCode, string>> = {
  0: "done",
  1: "failed; doctor: there is a problem",
  2: "wrong usage, configuration or input; nothing was changed",
  3: "not found",
  4: "refused by the workspace's plan",
  5: "the database is busy or unusable, or a server has it; try again, or see formsvc doctor",
};

function exitCodes(): string {
  const lines = Object.entries(MEANINGS).map(([code, meaning]) => {
    const errors = Object.entries(ERROR_TABLE).flatMap(([name, { exitCode }]) =>
      exitCode === Number(code) ? [name] : [],
    );
    return `  ${code}  ${meaning}${errors.length > 0 ? `\n     ${wrap(errors)}` : ""}`;
  });
  return `Exit codes, and the errors that end with them, as --json names them:\n\n${lines.join("\n")}\n`;
}

function environment(): string {
  const variables = leaves(defaultConfig, []).map(({ path, value }) => [
    environmentName(path),
    JSON.stringify(value),
  ]);
  const width = Math.max(...variables.map(([name = ""]) => name.length));
  const lines = variables.map(([name = "", value = ""]) => `  ${name.padEnd(width)}  ${value}`);
  return `Every setting is an environment variable too, above the configuration file; lists as JSON. Their defaults:

${lines.join("\n")}

  FORMSVC_CONFIG  names the configuration file if --config does not
  FORMSVC_SERVER  is the server on which commands are done if --server is not given
  FORMSVC_TOKEN   is the token for that server
  VISUAL, EDITOR  is opened by schema edit
  PAGER           shows a page of docs on a terminal; less if it is not set
  NO_COLOR        leaves colours out of the log
  TMPDIR          is the folder into which the executable unpacks its libraries at its start
`;
}

function leaves(value: unknown, path: readonly string[]): { path: readonly string[]; value: unknown }[] {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return [{ path, value }];
  return Object.entries(value).flatMap(([name, below]) => leaves(below, [...path, name]));
}

function wrap(words: readonly string[]): string {
  const lines: string[] = [];
  for (const word of words) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + word.length < 85) lines[lines.length - 1] = `${last}, ${word}`;
    else lines.push(word);
  }
  return lines.join(",\n     ");
}
