import type { AnyDatabase } from "../database/any-database.ts";
import type { Command } from "commander";
import { limitsJson, usageJson, workspaceJson } from "../workspaces/workspace-json.ts";
import { countOf } from "../foundation/count-of.ts";
import { monthOf, toIsoTime } from "../foundation/clock.ts";
import {
  findLargestPlan,
  findLimits,
  limitsOf,
  type Plans,
  type Usage,
  type Workspace,
} from "../workspaces/workspace.ts";
import {
  chooseWorkspace,
  getWorkspace,
  listWorkspaces,
  readUsage,
  readUsages,
} from "../workspaces/workspace-store.ts";
import { addWorkspace, changePlan } from "../workspaces/administer-workspaces.ts";
import { parseMonth } from "./arguments.ts";
import { addNoun, command, type CommandContext, refuse } from "./command.ts";
import { withDatabase, withNewDatabase } from "./open.ts";

export function register(program: Command): void {
  addNoun(program, "workspace", "Groups of endpoints, each with a plan", [
    create,
    list,
    show,
    setPlan,
    usage,
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
    withNewDatabase(context, async (db, config) => {
      const made = await db.transaction(() =>
        addWorkspace(
          null,
          { name: options.name, account: options.account, plan: config.newWorkspacePlan },
          context.clock.now(),
        ),
      );
      return printWorkspace(context, made);
    }),
});

const list = command({
  usage: "list",
  summary: "List the workspaces",
  action: (context) =>
    withDatabase(context, async (db) => {
      const workspaces = await db.read(() => listWorkspaces());
      if (context.output.isJson) return context.output.json({ data: workspaces.map(workspaceJson) });
      const rows = workspaces.map(({ id, name, plan, createdAt }) => [id, name, plan, toIsoTime(createdAt)]);
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
    withDatabase(context, async (db, config) => {
      const workspace = await db.read(() => getWorkspace(reference));
      const limits = limitsOf(config.plans, workspace.plan);
      if (context.output.isJson)
        return context.output.json({
          workspace: { ...workspaceJson(workspace), limits: limitsJson(limits) },
        });
      const rows = [
        ["id", workspace.id],
        ["name", workspace.name],
        ["account", workspace.accountId],
        ["plan", workspace.plan],
        ["submissions a month", shown(limits.monthlySubmissions)],
        ["endpoints", shown(limits.endpoints)],
        ["own spam rules", limits.customSpam ? "yes" : "no"],
        ["held posts in bytes", shown(limits.heldBytes ?? null)],
        ["created", toIsoTime(workspace.createdAt)],
      ];
      return context.output.table(["WORKSPACE", ""], rows, "");
    }),
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
    return withDatabase(context, async (db, config) =>
      printWorkspace(
        context,
        await db.transaction(() =>
          changePlan(null, { workspace: reference, plan, plans: config.plans }, context.clock.now()),
        ),
      ),
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
    return withDatabase(context, async (db, config) => {
      const now = context.clock.now();
      const chosen = month ?? monthOf(now);
      const reference = argument ?? option;
      const every = reference === null ? await db.read(() => listWorkspaces()) : [];
      if (every.length > 1) return printUsages(context, db, every, { month: chosen, plans: config.plans });
      const workspace = await db.transaction(() => chooseWorkspace(reference, now, config.newWorkspacePlan));
      const counted = await db.read(() => readUsage(workspace, chosen, config.plans));
      if (context.output.isJson) return context.output.json(usageJson(counted));
      const row = [counted.month, String(counted.used), shown(counted.limit), shown(counted.remaining)];
      return context.output.table(["MONTH", "USED", "LIMIT", "REMAINING"], [row], "");
    });
  },
});

/** One row each, the fullest first. A workspace on a plan that is not configured has no limits to show. */
async function printUsages(
  { output }: CommandContext,
  db: AnyDatabase,
  workspaces: readonly Workspace[],
  { month, plans }: { readonly month: string; readonly plans: Plans },
): Promise<void> {
  const counted = (await db.read(() => readUsages(workspaces, month, plans))).toSorted(
    (left, right) => shareOf(right) - shareOf(left) || right.used - left.used,
  );
  const uncounted = workspaces.length - counted.length;
  if (uncounted > 0)
    output.note(`left out: ${uncounted} on a plan that is not configured; formsvc doctor names it`);
  if (output.isJson) {
    const data = counted.map((one) => ({ ...usageJson(one), workspace_name: one.name }));
    return output.json({ data });
  }
  const rows = counted.map(({ workspaceId, name, plan, used, limit, remaining }) => [
    workspaceId,
    name,
    plan,
    month,
    String(used),
    shown(limit),
    shown(remaining),
  ]);
  return output.table(["ID", "NAME", "PLAN", "MONTH", "USED", "LIMIT", "REMAINING"], rows, "");
}

/** Which part of the limit is used: 1 is all of it. */
function shareOf({ used, limit }: Usage): number {
  if (limit === null) return 0;
  return limit === 0 ? 1 : used / limit;
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

function printWorkspace(context: CommandContext, workspace: Workspace): void {
  if (context.output.isJson) return context.output.json({ workspace: workspaceJson(workspace) });
  context.output.line(workspace.id);
  return context.output.note(`workspace ${workspace.name} on the plan ${workspace.plan}`);
}

function shown(limit: number | null): string {
  return limit === null ? "unlimited" : String(limit);
}
