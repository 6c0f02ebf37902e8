import type { Command } from "commander";
import type { z } from "zod";
import { WORKSPACE_CONTENTS } from "../../app/features.ts";
import { countOf } from "../../foundation/count-of.ts";
import { FormsvcError } from "../../foundation/errors.ts";
import {
  findLargestPlan,
  findLimits,
  limitsOf,
  type Plans,
  type Workspace,
} from "../../workspaces/workspace.ts";
import {
  createWorkspace,
  listAllWorkspaces,
  renameWorkspace,
  setWorkspace,
  setWorkspacePlan,
  showWorkspace,
} from "../../workspaces/workspace-operations.ts";
import { listUsages, showUsage } from "../../workspaces/usage-operations.ts";
import { listWorkspaceMembers, showMember } from "../../members/member-operations.ts";
import { ownsAlready, transferWorkspace } from "../../members/transfer-workspace.ts";
import { showOwnToken } from "../../tokens/token-operations.ts";
import { showAccount } from "../../workspaces/account-operations.ts";
import { countContents, deleteWorkspace } from "../../workspaces/delete-workspace.ts";
import { parseMonth } from "../flags/arguments.ts";
import { addNoun, command, type CommandContext, refuse } from "../command.ts";
import { ifAllowed } from "../flags/endpoint-label.ts";
import { exportWorkspace } from "../transfer/export-workspace.ts";
import { operate } from "../operate.ts";
import { operationCommand, type Printer } from "../operation-command.ts";
import type { Terminal } from "../output/terminal.ts";

export function register(program: Command): void {
  addNoun(program, "workspace", "Groups of endpoints, each with a plan", [
    create,
    list,
    show,
    rename,
    set,
    setPlan,
    usage,
    transfer,
    exportWorkspace,
    remove,
  ]);
}

const create = operationCommand({
  usage: "create",
  summary: "Create another workspace, on the plan that newWorkspacePlan of the configuration names",
  options: [
    { flags: "--name <name>", summary: "name of the workspace", required: true },
    {
      flags: "--account <account>",
      summary: "account that owns it, by id or e-mail address (needed if there are several)",
    },
  ],
  examples: ["formsvc workspace create --name 'Client sites' --account ada@example.com"],
  isFirst: true,
  operation: createWorkspace,
  input: ({ name, account }) => ({ name, account }),
  print: printWorkspace,
  async note({ output, perform }, { workspace: made }) {
    const { data } = (await ifAllowed(perform(listAllWorkspaces, {}))) ?? { data: [] };
    if (data.some(({ id, name }) => name === made.name && id !== made.id))
      output.note(`another workspace is named ${made.name} too; commands take the id then`);
  },
});

const list = operationCommand({
  usage: "list",
  operation: listAllWorkspaces,
  input: () => ({}),
  print: ({ output }, { data }) =>
    output.table(
      ["ID", "NAME", "PLAN", "CREATED"],
      data.map(({ id, name, plan, created_at: created }) => [id, name, plan, created]),
      "no workspaces yet; the first endpoint makes one",
    ),
});

const show = operationCommand({
  usage: "show <workspace>",
  operation: showWorkspace,
  input: (_options, [workspace]) => ({ workspace }),
  print({ output }, { workspace }) {
    const { limits } = workspace;
    const rows = [
      ["id", workspace.id],
      ["name", workspace.name],
      ["account", workspace.account_id],
      ["plan", workspace.plan],
      ["submissions a month", shown(limits.monthly_submissions)],
      ["endpoints", shown(limits.endpoints)],
      ["time zone", workspace.time_zone ?? "UTC"],
      ["colour for visitors", workspace.brand_colour ?? "the built-in one"],
      ["name for visitors", workspace.brand_name ?? "none"],
      ["footer for visitors", workspace.brand_footer ?? "none"],
      ["own spam rules", limits.custom_spam ? "yes" : "no"],
      ["held posts in bytes", shown(limits.held_bytes)],
      ["created", workspace.created_at],
    ];
    output.table(["WORKSPACE", ""], rows, "");
  },
});

const rename = operationCommand({
  usage: "rename <workspace> <name>",
  examples: ["formsvc workspace rename ada 'Client sites'"],
  operation: renameWorkspace,
  input: (_options, [workspace, name]) => ({ workspace, name }),
  print: printWorkspace,
});

const set = operationCommand({
  usage: "set <workspace>",
  options: [
    {
      flags: "--time-zone <zone>",
      summary: "time zone of the times in its e-mails, like Europe/Berlin; '' is UTC",
    },
    {
      flags: "--brand-colour <colour>",
      summary: "colour of the pages and e-mails that visitors see, like #0b6e5f; '' is the built-in colour",
    },
    { flags: "--brand-name <text>", summary: "name above these pages and e-mails; '' leaves it out" },
    { flags: "--brand-footer <text>", summary: "text below these pages and e-mails; '' leaves it out" },
  ],
  examples: [
    "formsvc workspace set ada --time-zone Europe/Berlin",
    "formsvc workspace set ada --brand-name \"Mia's Bakery\" --brand-colour '#7a3b12' --brand-footer 'Mia Berg, Hauptstr. 1'",
  ],
  operation: setWorkspace,
  input({ timeZone, brandColour, brandName, brandFooter }, [workspace]) {
    const given = Object.entries({
      time_zone: timeZone,
      brand_colour: brandColour,
      brand_name: brandName,
      brand_footer: brandFooter,
    }).filter(([, value]) => value !== null);
    if (given.length === 0) return refuse("name at least one setting, like --time-zone Europe/Berlin");
    return { workspace, ...Object.fromEntries(given) };
  },
  print({ output }, { workspace }, { time_zone: timeZone }) {
    output.line(workspace.id);
    output.note(
      timeZone === undefined
        ? `how ${workspace.name} looks to visitors was changed`
        : `times in the e-mails of ${workspace.name} are those of ${workspace.time_zone ?? "UTC"}`,
    );
  },
});

const setPlan = operationCommand({
  usage: "set-plan [workspace] [plan]",
  summary: "Put a workspace on another plan; if there is only one, name the plan only",
  examples: [
    "formsvc workspace set-plan business",
    "formsvc workspace set-plan ws_01h455vb4pex5vsknk084sn02q pro",
  ],
  operation: setWorkspacePlan,
  input(_options, [former, latter]) {
    const plan = latter ?? former;
    if (plan === undefined) return refuse("name the plan");
    return { workspace: latter === undefined ? null : (former ?? null), plan };
  },
  print: printWorkspace,
});

const usage = command({
  usage: "usage [workspace]",
  summary: "Show how many submissions count towards the plan's monthly limit, of one workspace or of each",
  options: [
    { flags: "--workspace <workspace>", summary: "the same as the argument" },
    {
      flags: "--all",
      summary: 'list each workspace; with --json, {"data":[…]} (needed with --json if there are several)',
    },
    {
      flags: "--month <month>",
      summary: "the UTC month, like 2026-01 (default: this one)",
      parse: parseMonth,
    },
  ],
  action: (context, { workspace: option, month, all }, [argument]) => {
    if (argument !== undefined && option !== null) return refuse("name the workspace once");
    if (all && (argument ?? option) !== null) return refuse("name a workspace, or give --all");
    return operate(context, async (terminal) => {
      const { perform } = terminal;
      const { data: every } = await perform(listAllWorkspaces, {});
      const reference = argument ?? option;
      // Scripts get one shape: another workspace that is made later must not change it.
      const isList = all || (reference === null && every.length > 1 && !context.output.isJson);
      if (isList) return printUsages(context, terminal, every.length, month);
      const counted = await perform(showUsage, { workspace: reference, month });
      if (context.output.isJson) return context.output.json(counted);
      const row = [counted.month, String(counted.used), shown(counted.limit), shown(counted.remaining)];
      return context.output.table(["MONTH", "USED", "LIMIT", "REMAINING"], [row], "");
    });
  },
});

/** Prints a row for each workspace, the fullest first. A workspace on a plan that is not configured has no limits to show. */
async function printUsages(
  { output }: CommandContext,
  { perform }: Terminal,
  workspaces: number,
  month: string | null,
): Promise<void> {
  const listed = await perform(listUsages, { month });
  const uncounted = workspaces - listed.data.length;
  if (uncounted > 0)
    output.note(`left out: ${uncounted} on a plan that is not configured; formsvc doctor names it`);
  if (output.isJson) return output.json(listed);
  const rows = listed.data.map((one) => [
    one.workspace_id,
    one.workspace_name,
    one.plan,
    one.month,
    String(one.used),
    shown(one.limit),
    shown(one.remaining),
  ]);
  return output.table(["ID", "NAME", "PLAN", "MONTH", "USED", "LIMIT", "REMAINING"], rows, "");
}

const transfer = operationCommand({
  usage: "transfer <workspace>",
  options: [
    { flags: "--to <email>", summary: "address of the account that gets it", required: true },
    {
      flags: "--stay <role>",
      summary: "role that the former owner keeps (default: no member any more)",
      choices: ["editor", "reader"],
    },
  ],
  examples: ["formsvc workspace transfer 'Client sites' --to bo@example.com --stay editor"],
  operation: transferWorkspace,
  input: ({ to, stay }, [workspace]) => ({ workspace, to, stay }),
  check: ({ workspace, to }, terminal) => requireTaker(terminal, workspace, to),
  ask: ({ workspace, to }) => ({ text: `Hand the workspace ${workspace} over to ${to}?` }),
  print({ output }, { workspace }, { to }) {
    output.line(workspace.id);
    output.note(`${to} owns ${workspace.name} from now on`);
  },
});

const contentsParts = () => ({ workspaceContents: WORKSPACE_CONTENTS });

/** Checks that an account may take over: it is a member, or for an operator any account. @throws not_found, usage */
async function requireTaker(terminal: Terminal, workspace: string, email: string): Promise<void> {
  const { perform } = terminal;
  const taker = await perform(showMember, { workspace, email }).catch((error: unknown) => {
    if (isRefused(error, "not_found")) return { noMember: error };
    throw error;
  });
  if ("member" in taker) {
    if ((await giverOf(terminal, workspace)) === taker.member.account_id) throw ownsAlready(email);
    return;
  }
  await perform(showWorkspace, { workspace });
  await perform(showAccount, { account: email }).catch((error: unknown) => {
    throw isRefused(error, "forbidden") ? taker.noMember : error;
  });
}

/** The account that hands the workspace over, as {@link transferWorkspace} chooses it. */
async function giverOf({ perform, here }: Terminal, workspace: string): Promise<string> {
  const named = (await perform(showWorkspace, { workspace })).workspace.account_id;
  const asking = here === null ? (await perform(showOwnToken, {})).token.account : null;
  if (asking === null) return named;
  const { data } = await perform(listWorkspaceMembers, { workspace });
  return data.find(({ email, role }) => email === asking && role === "owner")?.account_id ?? named;
}

function isRefused(error: unknown, code: FormsvcError["code"]): boolean {
  return error instanceof FormsvcError && error.code === code;
}

const remove = operationCommand({
  usage: "delete <workspace>",
  summary:
    "Delete a workspace with all its endpoints and what was sent to them; if it is interrupted, run it again",
  examples: ["formsvc workspace delete 'Client sites'"],
  operation: deleteWorkspace,
  parts: contentsParts,
  input: (_options, [workspace]) => ({ workspace }),
  async ask(input, { perform }) {
    const { workspace, contents } = await perform(countContents, input, contentsParts);
    const { id, name } = workspace;
    return { text: `Delete ${id} (${name}) with ${contentsText(contents)}?`, about: { workspace: id } };
  },
  print: ({ output }, { workspace }) => output.line(workspace.id),
});

/** The numbers of things in a workspace. */
export type Contents = z.output<(typeof countContents)["output"]>["contents"];

/** A text like `3 endpoints, 120 submissions and 4 held posts`. */
export function contentsText({ endpoints, submissions, held }: Contents): string {
  return `${countOf(endpoints, "endpoint")}, ${countOf(submissions, "submission")} and ${countOf(held, "held post")}`;
}

/** Describes the monthly limit of the workspace's plan, and how to raise it. @param isOnly whether there is no other workspace */
export function describePlan(
  { id, plan }: Pick<Workspace, "id" | "plan">,
  plans: Plans,
  isOnly: boolean,
): string {
  const limits = findLimits(plans, plan);
  if (limits === undefined) return `${plan}, which is not configured`;
  const { monthlySubmissions } = limits;
  if (monthlySubmissions === null) return `${plan}, unlimited submissions`;
  const limit = `${plan}, ${countOf(monthlySubmissions, "submission")} a month; what comes beyond is answered 429 and held`;
  const larger = findLargestPlan(plans, plan);
  if (larger === null)
    return `${limit}. For more, raise plans.${plan}.monthlySubmissions in the configuration`;
  const lifted = limitsOf(plans, larger).monthlySubmissions;
  const workspace = isOnly ? "" : `${id} `;
  return `${limit}. For ${shown(lifted)}: formsvc workspace set-plan ${workspace}${larger}`;
}

function printWorkspace(
  { output }: Printer,
  { workspace }: z.output<(typeof createWorkspace)["output"]>,
): void {
  output.line(workspace.id);
  output.note(`workspace ${workspace.name} on the plan ${workspace.plan}`);
}

function shown(limit: number | null): string {
  return limit === null ? "unlimited" : String(limit);
}
