import { z } from "zod";
import { plainText } from "../foundation/plain-text.ts";
import { onlyNew, thereByNow } from "../operations/only-new.ts";
import { changed, operation } from "../operations/operation.ts";
import { reachWorkspace } from "./reach.ts";
import {
  limitsJson,
  limitsShape,
  settingsWith,
  workspaceSettingsOf,
  WORKSPACE_SETTINGS,
  workspaceJson,
  workspaceSettingsJson,
  workspaceSettingsInput,
  workspaceShape,
} from "./workspace-json.ts";
import {
  getWorkspace,
  insertWorkspaceRow,
  listViewableWorkspaces,
  updatePlanRow,
  listWorkspaces,
} from "./workspace-store.ts";
import { updateSettingsRow } from "./workspace-settings.ts";
import { updateWorkspaceNameRow } from "./rename.ts";
import { limitsOf } from "./workspace.ts";

const shown = z.strictObject({ workspace: workspaceShape });
const workspace = z.string().describe("Id of the workspace, or its name if that is unique.");
/** The reference to a workspace, which may be left out if there is only one. */
export const onlyOrNamed = z
  .string()
  .nullable()
  .default(null)
  .describe("Id of the workspace, or its name if that is unique; null is the only workspace there is.");

export const createWorkspace = operation({
  name: "workspace.create",
  summary: "Make another workspace, on the plan that the configuration gives to new ones",
  kind: "write",
  access: "operator",
  input: z.strictObject({
    name: z.string(),
    account: z
      .string()
      .nullable()
      .default(null)
      .describe("Id or e-mail address of the account that owns it; null is the only account there is."),
    only_new: onlyNew("a workspace has the name"),
  }),
  output: shown,
  *run({ config, now }, { name, account, only_new: isOnlyNew }) {
    if (isOnlyNew && (yield* listWorkspaces()).some((each) => each.name === name))
      throw thereByNow(`the workspace ${plainText(name)}`);
    const made = yield* insertWorkspaceRow(name, account, now, config.newWorkspacePlan);
    const change = { subject: made.id, workspaceId: made.id, detail: made.name };
    return changed({ workspace: workspaceJson(made) }, change);
  },
});

export const listAllWorkspaces = operation({
  name: "workspace.list",
  summary: "List the workspaces",
  kind: "read",
  access: "workspace:read",
  input: z.strictObject({
    name: z.string().nullable().default(null).describe("Only workspaces with exactly this name."),
  }),
  output: z.strictObject({ data: z.array(workspaceShape) }),
  *run({ viewing }, { name }) {
    const workspaces = yield* listViewableWorkspaces(viewing);
    return { data: workspaces.filter((each) => name === null || each.name === name).map(workspaceJson) };
  },
});

export const showWorkspace = operation({
  name: "workspace.show",
  summary: "Show a workspace and its plan's limits",
  kind: "read",
  access: "workspace:read",
  input: z.strictObject({ workspace }),
  output: z.strictObject({ workspace: workspaceShape.extend({ limits: limitsShape }) }),
  *run(context, { workspace: reference }) {
    const found = yield* reachWorkspace(context, reference);
    const limits = limitsJson(limitsOf(context.config.plans, found.plan));
    return { workspace: { ...workspaceJson(found), limits } };
  },
});

export const setWorkspacePlan = operation({
  name: "workspace.set-plan",
  summary: "Put a workspace on another plan",
  kind: "write",
  access: "operator",
  input: z.strictObject({
    workspace: onlyOrNamed,
    plan: z.string(),
  }),
  output: shown,
  *run({ config, viewing }, { workspace: reference, plan }) {
    const found = reference === null ? null : yield* getWorkspace(reference, viewing);
    const set = yield* updatePlanRow(found?.id ?? null, plan, config.plans);
    const change = { subject: set.id, workspaceId: set.id, detail: plan };
    return changed({ workspace: workspaceJson(set) }, change);
  },
});

export const renameWorkspace = operation({
  name: "workspace.rename",
  summary: "Give a workspace another name",
  kind: "write",
  access: "workspace:write",
  input: z.strictObject({ workspace, name: z.string() }),
  output: shown,
  *run(context, { workspace: reference, name }) {
    const before = yield* reachWorkspace(context, reference);
    const renamed = yield* updateWorkspaceNameRow(before, name);
    if (renamed.name === before.name) return changed({ workspace: workspaceJson(renamed) });
    const detail = `${before.name} → ${renamed.name}`;
    return changed(
      { workspace: workspaceJson(renamed) },
      { subject: renamed.id, workspaceId: renamed.id, detail },
    );
  },
});

export const setWorkspace = operation({
  name: "workspace.set",
  summary: "Change a workspace's settings",
  kind: "write",
  access: "workspace:write",
  input: z.strictObject({ workspace, ...workspaceSettingsInput.shape }),
  output: shown,
  *run(context, { workspace: reference, ...given }) {
    const before = yield* reachWorkspace(context, reference);
    const known = workspaceSettingsJson(before);
    const set = yield* updateSettingsRow(before, workspaceSettingsOf(settingsWith(known, given)));
    const after = workspaceSettingsJson(set);
    const differences = WORKSPACE_SETTINGS.filter((name) => after[name] !== known[name]);
    if (differences.length === 0) return changed({ workspace: workspaceJson(set) });
    const detail = differences.map((name) => `${name}: ${after[name] ?? "–"}`).join(", ");
    return changed({ workspace: workspaceJson(set) }, { subject: set.id, workspaceId: set.id, detail });
  },
});
