import { Command } from "commander";
import { version } from "../foundation/version.ts";
import { type ExitCode, FormsvcError } from "../foundation/errors.ts";
import { reportFailure, usageMessage } from "./output/exit-code.ts";
import { commonFlagsLast } from "./flags/leading-flags.ts";
import { writeError, writeText } from "./output/output.ts";

/**
 * One module for each noun, loaded only when the noun is named: loading every feature for every command would double its start time. The
 * help has the same order.
 */
const NOUNS: Readonly<Record<string, () => Promise<{ register(program: Command): void }>>> = {
  init: () => import("./commands/init-command.ts"),
  serve: () => import("./commands/serve-command.ts"),
  login: async () => ({ register: (await import("./commands/login-commands.ts")).registerLogin }),
  logout: async () => ({ register: (await import("./commands/login-commands.ts")).registerLogout }),
  context: () => import("./commands/context-commands.ts"),
  account: () => import("./commands/account-commands.ts"),
  workspace: () => import("./commands/workspace-commands.ts"),
  endpoint: () => import("./commands/endpoint-commands.ts"),
  schema: () => import("./commands/schema-commands.ts"),
  key: () => import("./commands/key-commands.ts"),
  token: () => import("./commands/token-commands.ts"),
  submission: () => import("./commands/submission-commands.ts"),
  backup: () => import("./commands/backup-command.ts"),
  restore: () => import("./commands/restore-command.ts"),
  copy: () => import("./commands/copy-command.ts"),
  doctor: () => import("./commands/doctor-command.ts"),
  file: () => import("./commands/file-commands.ts"),
  held: () => import("./commands/held-commands.ts"),
  spam: () => import("./commands/spam-commands.ts"),
  member: () => import("./commands/member-commands.ts"),
  recipient: () => import("./commands/recipient-commands.ts"),
  webhook: () => import("./commands/webhook-commands.ts"),
  mail: () => import("./commands/mail-commands.ts"),
  autoreply: () => import("./commands/autoreply-commands.ts"),
  secrets: () => import("./commands/secrets-commands.ts"),
  apply: () => import("./commands/apply-command.ts"),
  mcp: () => import("./commands/mcp-command.ts"),
  "export-config": () => import("./commands/export-config-command.ts"),
  config: () => import("./commands/config-commands.ts"),
  migrate: () => import("./commands/migrate-commands.ts"),
  healthcheck: () => import("./commands/healthcheck-command.ts"),
  systemd: () => import("./commands/systemd-command.ts"),
  completion: () => import("./commands/completion-command.ts"),
  docs: () => import("./commands/docs-command.ts"),
  upgrade: () => import("./commands/upgrade-command.ts"),
  version: () => import("./commands/version-command.ts"),
};

const EXIT_CODES = `
Exit codes: 0 done, 1 failed, 2 wrong usage or configuration, 3 not found, 4 refused by a plan limit,
5 database busy or unusable.

More: formsvc docs, formsvc help exit-codes, formsvc help environment`;

/** Runs one command line and returns its exit code. Never throws. */
export async function run(given: readonly string[]): Promise<ExitCode> {
  const asJson = given.includes("--json");
  const args = commonFlagsLast(given);
  try {
    if (args[0] === "help" && (await showTopic(args[1]))) return 0;
    const words = useListedVerb(askForVersion(askForHelp(args)));
    const program = await createProgram(words[0], asJson);
    await program.parseAsync([...words], { from: "user" });
    return 0;
  } catch (error) {
    return reportFailure(error, asJson);
  }
}

/** Shows a help topic. @returns false if the name is a command's @throws usage if it is neither */
async function showTopic(name: string | undefined): Promise<boolean> {
  if (name === undefined || name.startsWith("-") || Object.hasOwn(NOUNS, name)) return false;
  const { helpTopic } = await import("./output/help-topics.ts");
  const topic = helpTopic(name);
  if (topic === null)
    throw new FormsvcError("usage", `there is no command or topic ${name}; formsvc --help lists them`);
  writeText(topic);
  return true;
}

/** `help endpoint create` and `endpoint help create` both become `endpoint create --help`. */
function askForHelp(args: readonly string[]): readonly string[] {
  const [first, second, third] = args;
  if (first === "help" && second !== undefined && third !== undefined) return [second, third, "--help"];
  if (second === "help" && first !== undefined && third !== undefined) return [first, third, "--help"];
  return args;
}

/** Other names of verbs, by noun, so that recipients are created and deleted like everything else. They will be removed in 0.2. */
const OTHER_VERBS: Readonly<Record<string, ReadonlyMap<string, string>>> = {
  recipient: new Map([
    ["create", "add"],
    ["delete", "remove"],
  ]),
};

/** Replaces another name of a verb by the verb that help and completion list. */
function useListedVerb(args: readonly string[]): readonly string[] {
  const [noun = "", verb = ""] = args;
  const listed = Object.hasOwn(OTHER_VERBS, noun) ? OTHER_VERBS[noun]?.get(verb) : undefined;
  return listed === undefined ? args : args.with(1, listed);
}

/** `--version --json` becomes `version --json`. */
function askForVersion(args: readonly string[]): readonly string[] {
  const at = args.findIndex((word) => word === "--version" || word === "-V");
  return args[0]?.startsWith("-") === true && at !== -1 ? ["version", ...args.toSpliced(at, 1)] : args;
}

/**
 * @param noun the noun to load; all are loaded if it is unknown or needs the others
 *
 * @param asJson whether the caller prints errors, as JSON
 */
export async function createProgram(noun: string | undefined, asJson = false): Promise<Command> {
  const program = new Command("formsvc")
    .description("A form backend in one executable and one SQLite file.")
    .version(version, "-V, --version", "print the version")
    .helpCommand("help [command]", "Show a command's help")
    .showSuggestionAfterError()
    .showHelpAfterError("(add --help for what there is)")
    .addHelpText("after", EXIT_CODES)
    .exitOverride();
  const alone =
    noun !== undefined && noun !== "completion" && Object.hasOwn(NOUNS, noun) ? NOUNS[noun] : undefined;
  for (const load of alone === undefined ? Object.values(NOUNS) : [alone]) (await load()).register(program);
  if (noun?.startsWith("-") === true)
    program.showHelpAfterError("(flags stand behind the command; add --help for what there is)");
  strictly(program, asJson);
  return program;
}

/** Makes every command throw instead of exiting, and refuse unknown arguments. */
function strictly(command: Command, asJson: boolean): void {
  command
    .exitOverride()
    .allowExcessArguments(false)
    .configureOutput({
      getErrHelpWidth: () => 100,
      getOutHelpWidth: () => 100,
      writeOut: writeText,
      outputError: (text, write) => write(`formsvc: ${usageMessage(text)}`),
      writeErr: (text) => {
        if (!asJson) writeError(text.trimEnd());
      },
    });
  for (const below of command.commands) strictly(below, asJson);
}
