import type { Command } from "commander";
import { InvalidArgumentError } from "commander";
import { type Clock, systemClock } from "../foundation/clock.ts";
import { createOutput, type Output } from "./output.ts";

/** What every command is given: its output, the clock, and the options that all commands have. */
export interface CommandContext {
  readonly output: Output;
  readonly clock: Clock;
  /** `--config`; null if it was not given. */
  readonly configFile: string | null;
  /** `--db`; null if it was not given. */
  readonly databasePath: string | null;
}

/** Options as commander collects them, by name in camel case; each command reads its own. */
export type Options = Readonly<Record<string, unknown>>;

export type Action = (
  context: CommandContext,
  options: Options,
  args: readonly (string | undefined)[],
) => void | Promise<void>;

export interface CommandSpec {
  /** As commander takes it: `show <endpoint>`. */
  readonly usage: string;
  readonly summary: string;
  /** Flags and what they mean, in the order of the help; {@link repeatable} ones may be given several times. */
  readonly options?: readonly OptionSpec[];
  /** Lines that can be pasted. */
  readonly examples?: readonly string[];
  readonly action: Action;
}

export interface OptionSpec {
  readonly flags: string;
  readonly summary: string;
  readonly required?: boolean;
  readonly repeatable?: boolean;
  readonly choices?: readonly string[];
  /** Turns the text into a value, or throws with {@link refuse}. */
  readonly parse?: (text: string) => unknown;
}

/** Adds a noun (or a verb without a noun) and its verbs to the program. */
export function addCommand(parent: Command, spec: CommandSpec): Command {
  const command = parent.command(spec.usage).summary(spec.summary).description(`${spec.summary}.`);
  for (const option of spec.options ?? []) addOption(command, option);
  addCommonOptions(command);
  if (spec.examples !== undefined)
    command.addHelpText("after", `\nExamples:\n${spec.examples.map((line) => `  ${line}`).join("\n")}`);
  return command.action(async (...received: unknown[]) => {
    const options = command.opts();
    requireOptions(command, spec.options ?? []);
    const args = received.slice(0, -2) as (string | undefined)[];
    await spec.action(contextOf(options), options, args.flat());
  });
}

export function addNoun(
  program: Command,
  name: string,
  summary: string,
  verbs: readonly CommandSpec[],
): void {
  const noun = program.command(name).summary(summary).description(`${summary}.`);
  for (const verb of verbs) addCommand(noun, verb);
}

/** Ends an option or argument with what is wrong with it; exit code 2. */
export function refuse(message: string): never {
  throw new InvalidArgumentError(message);
}

export function text(options: Options, name: string): string | null {
  const value = options[name];
  return typeof value === "string" ? value : null;
}

export function texts(options: Options, name: string): readonly string[] | null {
  const value = options[name];
  return Array.isArray(value) ? (value as string[]) : null;
}

/** Checked last: commander would complain of them before it names a misspelt flag. */
function requireOptions(command: Command, specs: readonly OptionSpec[]): void {
  for (const { flags, required } of specs) {
    const name = command.options.find((option) => option.flags === flags)?.attributeName() ?? "";
    if (required === true && command.getOptionValue(name) === undefined)
      command.error(`error: required option '${flags}' not specified`, { exitCode: 2 });
  }
}

function addOption(command: Command, spec: OptionSpec): void {
  const option = command.createOption(
    spec.flags,
    spec.required === true ? `${spec.summary} (required)` : spec.summary,
  );
  if (spec.choices !== undefined) option.choices(spec.choices);
  const { parse } = spec;
  if (parse !== undefined) option.argParser(parse);
  if (spec.repeatable === true) {
    option.argParser((value: string, earlier: unknown) => [
      ...(Array.isArray(earlier) ? (earlier as unknown[]) : []),
      value,
    ]);
  }
  command.addOption(option);
}

function addCommonOptions(command: Command): void {
  command
    .option(
      "--config <file>",
      "configuration file (else FORMSVC_CONFIG, ./formsvc.config.json, /etc/formsvc/)",
      parseFile,
    )
    .option("--db <file>", "database file (else database.path of the configuration)", parseFile)
    .option("--json", "print JSON for scripts")
    .option("--quiet", "print no notes, only data and errors");
}

/** An empty name comes from a variable that a script forgot to set, and would mean the folder itself. */
export function parseFile(value: string): string {
  return value === "" ? refuse("the name of a file is empty") : value;
}

function contextOf(options: Options): CommandContext {
  return {
    clock: systemClock,
    output: createOutput({ json: options["json"] === true, quiet: options["quiet"] === true }),
    configFile: text(options, "config"),
    databasePath: text(options, "db"),
  };
}
