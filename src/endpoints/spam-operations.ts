import { z } from "zod";
import type { Steps } from "../database/steps.ts";
import type { Access } from "../operations/access.ts";
import { requireAccess } from "../operations/actor.ts";
import { changed, type Context, operation } from "../operations/operation.ts";
import { jsonObject } from "../operations/json-object.ts";
import {
  parseSpamChoices,
  replaceChoices,
  spamChoicesShape,
  type SpamSettings,
} from "../spam/spam-settings.ts";
import { findStanding } from "../workspaces/standing.ts";
import { isInReach, reachWorkspace } from "../workspaces/reach.ts";
import { getWorkspace, noWorkspace } from "../workspaces/workspace-store.ts";
import { type ChosenScope, readSpamState, requireCustomSpam } from "./choose-spam.ts";
import { reachEndpoint } from "./endpoint-store.ts";
import { readChoices, writeChoicesRow } from "./spam-choices-store.ts";
import { spamStateJson } from "./spam-state-json.ts";

/** The endpoint or workspace whose spam settings are meant. */
const spamScopeInput = {
  endpoint: z
    .string()
    .nullable()
    .default(null)
    .describe(
      "The settings of this endpoint, which win over those of its workspace: its id, its name if that is unique, or WORKSPACE/NAME.",
    ),
  workspace: z
    .string()
    .nullable()
    .default(null)
    .describe(
      "The settings of this whole workspace, if no endpoint is named: its id or name; null is the only workspace there is.",
    ),
};

/** The choices that are set or tried. */
export const spamChangeInput = {
  ...spamScopeInput,
  choices: spamChoicesShape.describe(
    "The new settings. Settings that are not named stay, and so do other keywords; a keyword that is there already is replaced.",
  ),
  replace: z
    .boolean()
    .default(false)
    .describe("Whether settings and keywords that are not named are removed."),
};

const reference = z.strictObject(spamScopeInput);
const change = z.strictObject(spamChangeInput);

/** The further access that an actor needs if a whole workspace is meant. */
const further = { read: "workspace:read", write: "workspace:spam" } as const satisfies Record<string, Access>;

/** The part of the operations that show settings in force. */
export interface SpamParts {
  /** The settings of an owner who chose nothing. */
  readonly spamDefaults: SpamSettings;
}

export const showSpam = operation({
  name: "spam.show",
  summary: "Show the spam settings in force for a workspace or endpoint",
  kind: "read",
  access: "endpoints:read",
  furtherAccess: [further.read],
  input: reference,
  output: z.strictObject({
    plan: z.string(),
    custom_spam: z.boolean().describe("Whether the plan includes spam settings of one's own."),
    chosen: spamChoicesShape.describe(
      "The settings that were chosen for the endpoint or workspace, even if its plan does not include them.",
    ),
    settings: jsonObject.describe("All settings in force for the endpoint or workspace."),
  }),
  async run(context: Context<SpamParts>, input) {
    const { config, parts } = context;
    // From the command line, a read also gives an empty database its first workspace.
    return context.transact(function* () {
      const scope = yield* reachSpamScope(context, input, further.read);
      return changed(spamStateJson(yield* readSpamState(scope, config.plans, parts.spamDefaults)));
    });
  },
});

export const setSpam = operation({
  name: "spam.set",
  summary: "Set spam settings of a workspace or endpoint, on plans with own spam rules",
  kind: "write",
  access: "endpoints:write",
  furtherAccess: [further.write],
  input: change,
  output: z.strictObject({ chosen: spamChoicesShape }),
  *run(context, input) {
    const { scope, workspace } = yield* reachSpamScope(context, input, further.write);
    requireCustomSpam(workspace.plan, context.config.plans);
    const chosen = changedChoices(yield* readChoices(scope), input);
    yield* writeChoicesRow(scope, chosen);
    const subject = scope.kind === "endpoint" ? scope.endpointId : workspace.id;
    return changed({ chosen }, { subject, workspaceId: workspace.id, detail: null });
  },
});

/** The choices after a change. @throws usage if a list would get too long */
export function changedChoices(
  before: z.output<typeof spamChoicesShape>,
  { choices, replace }: Pick<z.output<typeof change>, "choices" | "replace">,
): z.output<typeof spamChoicesShape> {
  if (replace) return choices;
  return parseSpamChoices(JSON.stringify(replaceChoices(before, choices)), "options");
}

/** @param furtherAccess the access that a whole workspace needs @throws not_found, ambiguous, forbidden */
export function* reachSpamScope(
  context: Pick<Context, "viewing" | "access" | "actor" | "now" | "config">,
  { endpoint, workspace: named }: z.output<typeof reference>,
  furtherAccess: Access,
): Steps<ChosenScope> {
  if (endpoint !== null) {
    const { id, workspaceId } = yield* reachEndpoint(context, { endpoint, workspace: named });
    const scope = { kind: "endpoint", workspaceId, endpointId: id } as const;
    return { scope, workspace: yield* getWorkspace(workspaceId) };
  }
  requireAccess(context.actor, furtherAccess);
  const workspace = yield* reachWorkspace(context, named);
  // The settings of a workspace apply to endpoints other than those that a token or a member is limited to.
  const standing = yield* findStanding(context.viewing, workspace.id);
  if ((standing?.endpoints ?? null) !== null) throw noWorkspace(named ?? workspace.id);
  yield* isInReach({ ...context, access: furtherAccess }, workspace.id);
  return { scope: { kind: "workspace", workspaceId: workspace.id }, workspace };
}
