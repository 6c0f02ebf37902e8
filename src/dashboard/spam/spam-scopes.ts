import type { Steps } from "../../database/steps.ts";
import { type ChosenScope, readSpamState, requireCustomSpam } from "../../endpoints/choose-spam.ts";
import type { Endpoint } from "../../endpoints/endpoint.ts";
import { getViewableEndpoint, listEndpoints } from "../../endpoints/endpoint-store.ts";
import { readChoices } from "../../endpoints/spam-choices-store.ts";
import type { EndpointInWorkspace } from "../../endpoints/viewable-endpoints.ts";
import { FormsvcError } from "../../foundation/errors.ts";
import type { Viewer } from "../../sessions/session.ts";
import type { SpamChoices, SpamSettings } from "../../spam/spam-settings.ts";
import { findSight } from "../../workspaces/standing.ts";
import { findLimits, type Plans } from "../../workspaces/workspace.ts";
import {
  getViewableWorkspace,
  getWorkspace,
  listViewableWorkspaces,
  seesSeveralWorkspaces,
} from "../../workspaces/workspace-store.ts";
import { listFormChoices } from "../forms/form-choice.ts";
import { spamForm } from "./spam-form.ts";
import type { SpamScopeView } from "./spam-view.ts";
import { pageWords } from "../kit/sentence.ts";

/** The largest number of endpoints whose own settings are listed on the page of their workspace. */
const MAX_ENDPOINTS = 200;

/** Finds the settings of a whole workspace, or of one endpoint, which override the workspace's. */
export type FindScope = (viewer: Viewer, id: string) => Steps<FoundScope>;

export interface FoundScope extends ChosenScope {
  /** Null for a whole workspace. */
  readonly endpoint: Endpoint | null;
}

export function pathOf({ workspace, endpoint }: FoundScope): string {
  return endpoint === null
    ? `/dashboard/spam/workspaces/${workspace.id}`
    : `/dashboard/spam/endpoints/${endpoint.id}`;
}

export function* findWorkspaceScope(viewer: Viewer, id: string): Steps<FoundScope> {
  const workspace = yield* getViewableWorkspace(viewer, id);
  return { scope: { kind: "workspace", workspaceId: workspace.id }, workspace, endpoint: null };
}

export function* findEndpointScope(viewer: Viewer, id: string): Steps<FoundScope> {
  const endpoint = yield* getViewableEndpoint(viewer, id);
  const { workspaceId } = endpoint;
  const scope = { kind: "endpoint", workspaceId, endpointId: endpoint.id } as const;
  return { scope, workspace: yield* getWorkspace(workspaceId), endpoint };
}

/** The forms whose settings the viewer may change although they may not change those of the whole workspace. */
export function* listBoundForms(viewer: Viewer): Steps<readonly EndpointInWorkspace[]> {
  const sight = yield* findSight(viewer, "endpoints:write");
  if (sight === null || sight.endpoints.length === 0) return [];
  const forms = yield* listFormChoices(viewer);
  return forms.filter(({ id }) => sight.endpoints.includes(id));
}

export function* readScopeView(
  viewer: Viewer,
  found: FoundScope,
  { plans, defaults }: { readonly plans: Plans; readonly defaults: SpamSettings },
): Steps<SpamScopeView> {
  const { scope, workspace, endpoint } = found;
  const endpoints = endpoint === null ? yield* listEndpoints(workspace.id, viewer) : [];
  const own = [];
  for (const each of endpoints.slice(0, MAX_ENDPOINTS)) {
    const choices = yield* readChoices({
      kind: "endpoint",
      workspaceId: workspace.id,
      endpointId: each.id,
    });
    own.push({ endpoint: each, names: Object.keys(choices) as (keyof SpamChoices)[] });
  }
  const hasPlan = findLimits(plans, workspace.plan) !== undefined;
  const settings = hasPlan ? (yield* readSpamState(found, plans, defaults)).settings : defaults;
  return {
    workspace,
    endpoint,
    path: pathOf(found),
    settings,
    saved: spamForm(yield* readChoices(scope)),
    refusal: refusalOf(workspace.plan, plans),
    endpoints: own,
    more: endpoints.length - own.length,
    isOneOfSeveral: yield* seesSeveralWorkspaces(viewer),
    seesWorkspaceSettings: yield* mayChangeAll(viewer, workspace.id),
  };
}

function* mayChangeAll(viewer: Viewer, workspaceId: string): Steps<boolean> {
  const allowed = yield* listViewableWorkspaces(viewer, "workspace:spam");
  return allowed.some(({ id }) => id === workspaceId);
}

/** Why the plan does not allow a change, in the words of the command; null if it does. */
function refusalOf(plan: string, plans: Plans): string | null {
  try {
    requireCustomSpam(plan, plans);
    return null;
  } catch (error) {
    if (error instanceof FormsvcError) return pageWords(error.message);
    throw error;
  }
}
