import type { Steps } from "../database/steps.ts";
import { FormsvcError } from "../foundation/errors.ts";
import type { Access } from "../operations/access.ts";
import { requireAccess } from "../operations/actor.ts";
import type { Context } from "../operations/operation.ts";
import type { Workspace } from "./workspace.ts";
import { findStanding, requireForWhole, requireStanding } from "./standing.ts";
import {
  chooseWorkspace,
  getWorkspace,
  listViewableWorkspaces,
  severalWorkspaces,
} from "./workspace-store.ts";

/** Who asks, and the access that they need. */
export type Asking = Pick<Context, "viewing" | "access">;

/**
 * Whether an actor can see what belongs to a workspace. Every operation that reaches a row calls this. If it returns false, the operation
 * answers as for a row that does not exist.
 *
 * @throws forbidden if the actor can see it, but the role in the workspace is not enough
 */
export function* isInReach({ viewing, access }: Asking, workspaceId: string): Steps<boolean> {
  const standing = yield* findStanding(viewing, workspaceId);
  if (standing === null) return false;
  requireStanding(standing, access);
  return true;
}

/** Requires the further access that an operation needs for some inputs only. @throws forbidden */
export function* requireAlso(
  { actor, viewing }: Pick<Context, "actor" | "viewing">,
  access: Access,
  workspaceId: string,
): Steps<void> {
  requireAccess(actor, access);
  yield* isInReach({ viewing, access }, workspaceId);
}

/** Whether {@link requireAlso} would let the actor do it. */
export function* mayAlso(
  doer: Pick<Context, "actor" | "viewing">,
  access: Access,
  workspaceId: string,
): Steps<boolean> {
  try {
    yield* requireAlso(doer, access, workspaceId);
    return true;
  } catch (error) {
    if (error instanceof FormsvcError && error.code === "forbidden") return false;
    throw error;
  }
}

/**
 * The workspace that an actor means: the one they name, else the only one that they see. From the command line, an empty database gets its
 * first account and workspace. Call it inside a transaction.
 *
 * @throws not_found, ambiguous, forbidden; usage if an account has no workspace
 */
export function* reachWorkspace(
  context: Pick<Context, "viewing" | "access" | "actor" | "now" | "config">,
  reference: string | null,
): Steps<Workspace> {
  const workspace = yield* find(context, reference);
  const standing = yield* findStanding(context.viewing, workspace.id);
  if (standing !== null) requireForWhole(standing, context.access);
  return workspace;
}

function* find(
  { viewing, actor, now, config }: Pick<Context, "viewing" | "actor" | "now" | "config">,
  reference: string | null,
): Steps<Workspace> {
  if (reference !== null) return yield* getWorkspace(reference, viewing);
  if (actor.kind === "terminal") return yield* chooseWorkspace(null, now, config.newWorkspacePlan);
  const [only, other] = yield* listViewableWorkspaces(viewing);
  if (only === undefined) throw new FormsvcError("usage", "there is no workspace of yours yet");
  if (other === undefined) return only;
  throw severalWorkspaces();
}
