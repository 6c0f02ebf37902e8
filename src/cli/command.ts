import { type Command, InvalidArgumentError } from "commander";
import { type Clock, systemClock } from "../foundation/clock.ts";
import type { MaybeLater } from "../foundation/maybe-later.ts";
import { chooseServer, type CommandTarget, readServerAddress } from "./remote/choose-server.ts";
import { type ArgumentValues, type OptionSpec, type OptionValues, valuesOf } from "./flags/option-values.ts";
import { createOutput, type Output } from "./output/output.ts";

/** What every command is given: its output, the clock, and the values of the common options. */
export interface CommandContext extends CommandTarget {
  readonly output: Output;
  readonly clock: Clock;
  /** `--config`; null if it was not given. */
  readonly configFile: string | null;
  /** `--db`; null if it was not given. */
  readonly databasePath: string | null;
}

export interface CommandSpec<Usage extends string, Options extends readonly OptionSpec[]> {
  /** In the syntax of commander: `show <endpoint>`. */
  readonly usage: Usage;
  readonly summary: string;
  /** Further notes for the help, in lines that fit a terminal. */
  readonly notes?: string;
  /** In the order in which the help lists them. */
  readonly options?: Options;
  /** Command lines that can be pasted. */
  readonly examples?: readonly string[];
  /** Whether the command works on this machine in any case, even if a server was chosen. */
  readonly isLocal?: boolean;
  readonly action: (
    context: CommandContext,
    options: OptionValues<Options>,
    args: ArgumentValues<Usage>,
  ) => MaybeLater<void>;
}

/** A command with any options and arguments. Only its own action knows their types. */
export interface AnyCommand extends Omit<CommandSpec<string, readonly OptionSpec[]>, "action"> {
  readonly action: (context: CommandContext, options: never, args: never) => MaybeLater<void>;
}

/** Infers the action's types from the usage and the options. Returns the command unchanged. */
export function command<
  const Usage extends string,
  const Options extends readonly OptionSpec[] = readonly [],
>(spec: CommandSpec<Usage, Options>): AnyCommand {
  return spec;
}

/** Adds a noun with its verbs, or a verb without a noun, to the program. */
export function addCommand(parent: Command, spec: AnyCommand): Command {
  const notes = spec.notes === undefined ? "" : `\n\n${unwrapped(spec.notes)}`;
  const added = parent.command(spec.usage).summary(spec.summary).description(`${spec.summary}.${notes}`);
  for (const option of [...(spec.options ?? []), ...COMMON_OPTIONS]) addOption(added, option);
  if (spec.examples !== undefined)
    added.addHelpText("after", `\nExamples:\n${spec.examples.map((line) => `  ${line}`).join("\n")}`);
  return added.action(async (...received: unknown[]) => {
    refuseEmpty(added, received);
    requireOptions(added, spec.options ?? []);
    const values = valuesOf(added) as OptionValues<typeof COMMON_OPTIONS>;
    const words = received.slice(0, -2).flat();
    await spec.action(await contextOf(values, spec), values as never, words as never);
  });
}

/** Joins the lines of each paragraph. The help then breaks them at its own width. */
function unwrapped(text: string): string {
  return text.replaceAll(/(?<!\n)\n(?!\n)/g, " ");
}

export function addNoun(program: Command, name: string, summary: string, verbs: readonly AnyCommand[]): void {
  const noun = program.command(name).summary(summary).description(`${summary}.`);
  for (const verb of verbs) addCommand(noun, verb);
}

/** Refuses an option or argument with a message that says what is wrong with it; exit code 2. */
export function refuse(message: string): never {
  throw new InvalidArgumentError(message);
}

/** Refuses an empty argument. It comes from a variable that a script forgot to set. */
function refuseEmpty(command: Command, received: readonly unknown[]): void {
  const at = received.slice(0, -2).findIndex((value) => [value].flat().includes(""));
  const argument = command.registeredArguments[at];
  if (argument !== undefined) command.error(`error: argument '${argument.name()}' is empty`, { exitCode: 2 });
}

/** Checks required options after everything else, because commander would complain about them before it names a misspelt flag. */
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

const COMMON_OPTIONS = [
  {
    flags: "--config <file>",
    summary: "configuration file (else FORMSVC_CONFIG, ./formsvc.config.json, /etc/formsvc/)",
    parse: parseFile,
  },
  {
    flags: "--db <file>",
    summary: "database file, or address of a PostgreSQL database (else as configured)",
    parse: parseFile,
  },
  {
    flags: "--server <url>",
    summary: "run on that server (else FORMSVC_SERVER, else the one of formsvc context use)",
    parse: parseServer,
  },
  { flags: "--json", summary: "print JSON for scripts" },
  { flags: "--quiet", summary: "print no notes, only data and errors" },
] as const;

/** Refuses an empty name. It comes from a variable that a script forgot to set, and would mean the folder itself. */
export function parseFile(value: string): string {
  return value === "" ? refuse("the name of a file is empty") : value;
}

function parseServer(value: string): string {
  return readServerAddress(value, "--server");
}

async function contextOf(
  { config, db, server, json, quiet }: OptionValues<typeof COMMON_OPTIONS>,
  { isLocal = false }: Pick<AnyCommand, "isLocal">,
): Promise<CommandContext> {
  return {
    clock: systemClock,
    output: createOutput({ json, quiet }),
    configFile: config,
    databasePath: db,
    ...(isLocal ? { server: null, contextsProblem: null } : await chooseServer({ server, config, db })),
  };
}
