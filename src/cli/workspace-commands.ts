import type { Command } from "commander";
import type { z } from "zod";
import { WORKSPACE_CONTENTS } from "../app/features.ts";
import { countOf } from "../foundation/count-of.ts";
import {
  findLargestPlan,
  findLimits,
  limitsOf,
  type Plans,
  type Workspace,
} from "../workspaces/workspace.ts";
import {
  createWorkspace,
  listAllWorkspaces,
  listUsages,
  renameWorkspace,
  setWorkspace,
  setWorkspacePlan,
  showUsage,
  showWorkspace,
} from "../workspaces/workspace-operations.ts";
import { transferWorkspace } from "../members/transfer-workspace.ts";
import { countContents, deleteWorkspace } from "../workspaces/delete-workspace.ts";
import { confirm, parseMonth } from "./arguments.ts";
import { addNoun, command, type CommandContext, refuse } from "./command.ts";
import { withNewDatabase } from "./open.ts";
import { exportWorkspace } from "./export-workspace.ts";
import { operate } from "./operate.ts";
import type { Terminal } from "./terminal.ts";

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

const create = command({
  usage: "create",
  summary: "Create another workspace, on the plan that newWorkspacePlan of the configuration names",
  options: [
    { flags: "--name <name>", summary: "its name", required: true },
    {
      flags: "--account <account>",
      summary: "account that owns it, by id or e-mail (needed if there are several)",
    },
  ],
  examples: ["formsvc workspace create --name 'Client sites' --account ada@example.com"],
  action: (context, options) =>
    operate(
      context,
      async ({ perform }) => {
        const { name, account } = options;
        printWorkspace(context, await perform(createWorkspace, { name, account }));
      },
      withNewDatabase,
    ),
});

const list = command({
  usage: "list",
  summary: "List the workspaces",
  action: (context) =>
    operate(context, async ({ perform }) => {
      const listed = await perform(listAllWorkspaces, {});
      if (context.output.isJson) return context.output.json(listed);
      const rows = listed.data.map(({ id, name, plan, created_at }) => [id, name, plan, created_at]);
      return context.output.table(
        ["ID", "NAME", "PLAN", "CREATED"],
        rows,
        "no workspaces yet; the first endpoint makes one",
      );
    }),
});

const show = command({
  usage: "show <workspace>",
  summary: "Show a workspace and its plan's limits",
  action: (context, _options, [reference]) =>
    operate(context, async ({ perform }) => {
      const found = await perform(showWorkspace, { workspace: reference });
      if (context.output.isJson) return context.output.json(found);
      const { workspace } = found;
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
      return context.output.table(["WORKSPACE", ""], rows, "");
    }),
});

const rename = command({
  usage: "rename <workspace> <name>",
  summary: "Give a workspace another name",
  examples: ["formsvc workspace rename ada 'Client sites'"],
  action: (context, _options, [reference, name]) =>
    operate(context, async ({ perform }) =>
      printWorkspace(context, await perform(renameWorkspace, { workspace: reference, name })),
    ),
});

const set = command({
  usage: "set <workspace>",
  summary: "Change a workspace's settings",
  options: [
    {
      flags: "--time-zone <zone>",
      summary: "of the times in its e-mails, like Europe/Berlin; '' is UTC",
    },
    {
      flags: "--brand-colour <colour>",
      summary: "of visitors' pages and e-mails, like #0b6e5f; '' is the built-in one",
    },
    { flags: "--brand-name <text>", summary: "stands above them; '' leaves it out" },
    { flags: "--brand-footer <text>", summary: "stands below them; '' leaves it out" },
  ],
  examples: [
    "formsvc workspace set ada --time-zone Europe/Berlin",
    "formsvc workspace set ada --brand-name \"Mia's Bakery\" --brand-colour '#7a3b12' --brand-footer 'Mia Berg, Hauptstr. 1'",
  ],
  action: (context, { timeZone, brandColour, brandName, brandFooter }, [reference]) => {
    const given = Object.entries({
      time_zone: timeZone,
      brand_colour: brandColour,
      brand_name: brandName,
      brand_footer: brandFooter,
    }).filter(([, value]) => value !== null);
    if (given.length === 0) return refuse("name at least one setting, like --time-zone Europe/Berlin");
    return operate(context, async ({ perform }) => {
      const made = await perform(setWorkspace, { workspace: reference, ...Object.fromEntries(given) });
      if (context.output.isJson) return context.output.json(made);
      const { workspace } = made;
      context.output.line(workspace.id);
      return context.output.note(
        timeZone === null
          ? `how ${workspace.name} looks to visitors was changed`
          : `times in the e-mails of ${workspace.name} are those of ${workspace.time_zone ?? "UTC"}`,
      );
    });
  },
});

const setPlan = command({
  usage: "set-plan [workspace] [plan]",
  summary: "Put a workspace on another plan; if there is only one, name the plan only",
  examples: [
    "formsvc workspace set-plan business",
    "formsvc workspace set-plan ws_01h455vb4pex5vsknk084sn02q pro",
  ],
  action: (context, _options, [former, latter]) => {
    const plan = latter ?? former;
    if (plan === undefined) return refuse("name the plan");
    const reference = latter === undefined ? null : (former ?? null);
    return operate(context, async ({ perform }) =>
      printWorkspace(context, await perform(setWorkspacePlan, { workspace: reference, plan })),
    );
  },
});

const usage = command({
  usage: "usage [workspace]",
  summary: "Show how many submissions count towards the plan's monthly limit, of one workspace or of each",
  options: [
    { flags: "--workspace <workspace>", summary: "the same as the argument" },
    {
      flags: "--month <month>",
      summary: "the UTC month, like 2026-01 (default: this one)",
      parse: parseMonth,
    },
  ],
  action: (context, { workspace: option, month }, [argument]) => {
    if (argument !== undefined && option !== null) return refuse("name the workspace once");
    return operate(context, async (terminal) => {
      const { perform } = terminal;
      const { data: every } = await perform(listAllWorkspaces, {});
      const reference = argument ?? option;
      if (reference === null && every.length > 1) return printUsages(context, terminal, every.length, month);
      const counted = await perform(showUsage, { workspace: reference, month });
      if (context.output.isJson) return context.output.json(counted);
      const row = [counted.month, String(counted.used), shown(counted.limit), shown(counted.remaining)];
      return context.output.table(["MONTH", "USED", "LIMIT", "REMAINING"], [row], "");
    });
  },
});

/** One row each, the fullest first. A workspace on a plan that is not configured has no limits to show. */
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

const transfer = command({
  usage: "transfer <workspace>",
  summary: "Hand a workspace over to another account, which owns it from then on",
  options: [
    { flags: "--to <email>", summary: "address of the account that gets it", required: true },
    {
      flags: "--stay <role>",
      summary: "what its owner of before is from then on (default: no member)",
      choices: ["editor", "reader"],
    },
    { flags: "--yes", summary: "do it without being asked" },
  ],
  examples: ["formsvc workspace transfer 'Client sites' --to bo@example.com --stay editor"],
  action: (context, { to, stay, yes }, [reference]) =>
    operate(context, async ({ perform }) => {
      await confirm(`Hand the workspace ${reference} over to ${to}?`, yes);
      const moved = await perform(transferWorkspace, { workspace: reference, to, stay });
      if (context.output.isJson) return context.output.json(moved);
      context.output.line(moved.workspace.id);
      return context.output.note(`${to} owns ${moved.workspace.name} from now on`);
    }),
});

const remove = command({
  usage: "delete <workspace>",
  summary:
    "Delete a workspace with all its endpoints and what was sent to them; if it is interrupted, run it again",
  options: [{ flags: "--yes", summary: "do it without being asked" }],
  examples: ["formsvc workspace delete 'Client sites'"],
  action: (context, { yes }, [reference]) =>
    operate(context, async ({ perform }) => {
      const parts = () => ({ workspaceContents: WORKSPACE_CONTENTS });
      const { workspace, contents } = await perform(countContents, { workspace: reference }, parts);
      await confirm(`Delete ${workspace.id} (${workspace.name}) with ${contentsText(contents)}?`, yes);
      const deleted = await perform(deleteWorkspace, { workspace: workspace.id }, parts);
      if (context.output.isJson) return context.output.json(deleted);
      return context.output.line(deleted.workspace.id);
    }),
});

/** What a workspace has. */
export type Contents = z.output<(typeof countContents)["output"]>["contents"];

/** `3 endpoints, 120 submissions and 4 held posts`. */
export function contentsText({ endpoints, submissions, held }: Contents): string {
  return `${countOf(endpoints, "endpoint")}, ${countOf(submissions, "submission")} and ${countOf(held, "held post")}`;
}

/** The monthly limit of the workspace's plan, and how to raise it. @param isOnly whether there is no other workspace */
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
  { output }: CommandContext,
  made: z.output<(typeof createWorkspace)["output"]>,
): void {
  if (output.isJson) return output.json(made);
  const { workspace } = made;
  output.line(workspace.id);
  return output.note(`workspace ${workspace.name} on the plan ${workspace.plan}`);
}

function shown(limit: number | null): string {
  return limit === null ? "unlimited" : String(limit);
}
