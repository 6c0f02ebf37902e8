import { shorten } from "../../foundation/shorten.ts";
import type { Command } from "commander";
import { ENDPOINT_CONTENTS, openFileLinks, openKeyring, spamDefaults } from "../../app/features.ts";
import type { FormsChange, MadeSecret, ChangeOutcome, Plan } from "../../apply/change.ts";
import { checkFile } from "../../apply/check-file.ts";
import { parseFile } from "../../apply/file-text.ts";
import type { FormsFile } from "../../apply/forms-file.ts";
import { planFile } from "../../apply/plan-file.ts";
import type { PerformAnywhere as Performing } from "../../apply/read-current.ts";
import { runPlan } from "../../apply/run-plan.ts";
import { countOf } from "../../foundation/count-of.ts";
import { FormsvcError } from "../../foundation/errors.ts";
import { listNames } from "../../foundation/list-names.ts";
import { plainText } from "../../foundation/plain-text.ts";
import { readInput } from "../flags/arguments.ts";
import { addCommand, command, type CommandContext, parseFile as parseFileName, refuse } from "../command.ts";
import { operate } from "../operate.ts";
import type { Here, Terminal } from "../output/terminal.ts";
import { withDatabase, withNewDatabase } from "../open.ts";
import { waitForLimit } from "../remote/wait-for-limit.ts";
import { variableNames } from "../flags/variable-names.ts";

export function register(program: Command): void {
  addCommand(program, apply);
}

const apply = command({
  usage: "apply <file>",
  summary: "Make workspaces and endpoints as a file describes them; - reads standard input",
  notes: `The file is JSON or YAML; formsvc export-config prints one of what is there. All of it is checked before
the first change, and what would change is printed. What the file does not name stays as it is. It may be
run again at any time, also after it was interrupted. Keys and secrets of what is new are printed once, with
--env or --json; if they are lost, formsvc key rotate and formsvc webhook rotate-secret replace them.`,
  options: [
    { flags: "--dry-run", summary: "print what would change, and change nothing" },
    {
      flags: "--prune",
      summary:
        "delete webhooks, recipients and endpoints that the file does not name, in the workspaces that it names; never an endpoint with submissions or held posts",
    },
    {
      flags: "--prune-submissions <endpoint>",
      summary:
        "with --prune: delete this endpoint with all its submissions, if the file does not name it; repeatable",
      repeatable: true,
    },
    {
      flags: "--env",
      summary: "print keys and secrets as FORM_… lines, for eval in a shell, and all else on standard error",
    },
  ],
  examples: [
    "formsvc apply forms.yaml --dry-run",
    'eval "$(formsvc apply forms.yaml --env)"',
    "formsvc export-config | formsvc apply - --db new.db --json",
  ],
  action: async (context, { dryRun, prune, pruneSubmissions, env }, [name]) => {
    const file = await readFormsFile(parseFileName(name));
    const withPosts = pruneSubmissions ?? [];
    if (withPosts.length > 0 && !prune) return refuse("--prune-submissions needs --prune");
    const show: Show = context.output.isJson ? "json" : env ? "variables" : "lines";
    const work = async (terminal: Terminal): Promise<void> => {
      const perform = performing(terminal, context.output);
      const plan = await planFile(perform, file, { prunes: prune, withPosts });
      const report = new Report(context, file, plan, show);
      if (dryRun) return report.end(true);
      requireTaker(plan, show);
      report.begin();
      try {
        await runPlan(plan, { perform, onDone: (change, outcome) => report.done(change, outcome) });
      } catch (error) {
        report.end(false);
        throw error;
      }
      return report.end(false);
    };
    return operate(context, work, dryRun ? withDatabase : withNewDatabase);
  },
});

/** How new keys are printed: `lines` does not print them, `variables` prints lines for `eval`, `json` puts them into one JSON document. */
type Show = "lines" | "variables" | "json";

/** @throws usage naming every problem of the file */
async function readFormsFile(name: string): Promise<FormsFile> {
  const source = name === "-" ? "standard input" : name;
  return checkFile(await parseFile(readInput(name), source), source, process.env);
}

/** Runs operations with every part that any of them needs besides the database. They are many, so they wait for a server's limit. */
export function performing({ perform }: Terminal, output: CommandContext["output"]): Performing {
  return (operation, input) => waitForLimit(output, () => perform(operation, input, operationParts as never));
}

/** Makes the parts that the operations of clients need on the machine of the database. */
export async function operationParts({ db, config }: Here) {
  const keyring = await db.read(() => openKeyring(config));
  return {
    keyring,
    fileLinks: openFileLinks({ db, config }, keyring),
    spamDefaults: spamDefaults(config),
    endpointContents: ENDPOINT_CONTENTS,
    storedLetters: null,
    searches: null,
  };
}

/** @throws usage if the plan would make keys or secrets that are shown to nobody */
function requireTaker({ changes }: Plan, show: Show): void {
  const made = changes.filter(({ makesSecret }) => makesSecret);
  if (show !== "lines" || made.length === 0) return;
  const named = listNames(made, 3, ({ kind, name }) => `${kind} ${plainText(name)}`);
  throw new FormsvcError(
    "usage",
    `${named} would get keys or secrets that are shown once: give --env or --json, and keep what is printed; nothing was changed`,
  );
}

/** Prints a plan and how much of it was done, for a person or a script. */
class Report {
  readonly #done = new Set<FormsChange>();
  readonly #made: MadeSecret[] = [];
  readonly #warnings: string[] = [];
  readonly #output: CommandContext["output"];
  readonly #file: FormsFile;
  readonly #plan: Plan;
  readonly #show: Show;

  constructor({ output }: CommandContext, file: FormsFile, plan: Plan, show: Show) {
    this.#output = output;
    this.#file = file;
    this.#plan = plan;
    this.#show = show;
  }

  /** Call this before the first change. */
  begin(): void {
    const output = this.#output;
    if (this.#show !== "json") this.#printPlan();
    if (this.#show !== "lines" && this.#plan.changes.some(({ makesSecret }) => makesSecret))
      output.mustBeTaken(`keys or secrets are lost, and apply stopped: ${REPLACE}`);
  }

  done(change: FormsChange, { secrets: made, warnings }: ChangeOutcome): void {
    this.#done.add(change);
    this.#made.push(...made);
    this.#warnings.push(...warnings);
    if (this.#show !== "variables") return;
    // Printed at once, so that the keys are known even if the program ends before the rest is done.
    const names = variableNames(this.#file);
    for (const secret of made)
      for (const [name, value] of names(secret)) this.#output.line(`${name}=${value}`);
  }

  /** @param dryRun whether the plan was only shown and not carried out */
  end(dryRun: boolean): void {
    const output = this.#output;
    const { changes, kept } = this.#plan;
    if (this.#show === "json") return output.json(this.#json(dryRun));
    if (dryRun) this.#printPlan();
    if (changes.length === 0) output.note("nothing to change: everything is as the file says");
    else if (dryRun) output.note(`${countOf(changes.length, "change")} would be made`);
    else if (this.#done.size === changes.length) output.note(`${countOf(changes.length, "change")} made`);
    else {
      output.note(`${this.#done.size} of ${countOf(changes.length, "change")} made, and kept:`);
      for (const change of this.#done) output.note(`  ${titleOf(change)}`);
      output.note("mend what stopped it, and run it again; the next one is:");
      for (const change of changes.slice(this.#done.size, this.#done.size + 1))
        output.note(`  ${titleOf(change)}`);
    }
    for (const each of kept) output.note(`kept: ${plainText(each)}`);
    for (const each of this.#notes()) output.note(plainText(each));
  }

  #printPlan(): void {
    const output = this.#output;
    const print = (line: string): void => (this.#show === "lines" ? output.line(line) : output.note(line));
    for (const change of this.#plan.changes) {
      print(titleOf(change));
      for (const { member, from, to } of change.differences)
        print(
          `    ${plainText(member)}: ${from === undefined ? "" : `${valueText(from)} → `}${valueText(to)}`,
        );
    }
  }

  /**
   * Notes about the plan. One of them says that an earlier, interrupted run may have lost keys of endpoints that existed before this run.
   */
  #notes(): readonly string[] {
    const notes = [...this.#plan.notes, ...this.#warnings];
    const made = new Set(this.#made.map(({ workspace, endpoint }) => `${workspace}/${endpoint}`));
    const known = this.#file.workspaces.flatMap(({ name, endpoints }) =>
      endpoints.map((endpoint) => `${name}/${endpoint.name}`),
    );
    const isAll = known.every((name) => made.has(name));
    return this.#show === "lines" || isAll
      ? notes
      : [...notes, `keys of endpoints that were there are not shown again; ${REPLACE}`];
  }

  #json(dryRun: boolean) {
    return {
      dry_run: dryRun,
      changes: this.#plan.changes.map((change) => {
        const { verb, kind, name, differences } = change;
        return { verb, kind, name, differences, done: this.#done.has(change) };
      }),
      kept: this.#plan.kept,
      notes: this.#notes(),
      keys: this.#made.flatMap(({ workspace, endpoint, endpointId, webhook, secret, publishable }) =>
        webhook === null ? [{ workspace, endpoint, endpoint_id: endpointId, secret, publishable }] : [],
      ),
      secrets: this.#made.flatMap(({ workspace, endpoint, webhook, secret }) =>
        webhook === null ? [] : [{ workspace, endpoint, webhook_id: webhook.id, url: webhook.url, secret }],
      ),
    };
  }
}

const REPLACE =
  "a lost one is replaced by: formsvc key rotate KEY (formsvc key list ENDPOINT names them), or formsvc webhook rotate-secret WEBHOOK";

const SIGNS = { create: "+", change: "~", delete: "-" } as const;

function titleOf({ verb, kind, name }: FormsChange): string {
  return `${SIGNS[verb]} ${kind} ${plainText(name)}`;
}

/** The largest number of characters of a value that are shown. */
const MAX_SHOWN = 300;

function valueText(value: unknown): string {
  return shorten(plainText(JSON.stringify(value) ?? "none"), MAX_SHOWN);
}
