import type { Steps } from "../../database/steps.ts";
import type { Viewing } from "../../operations/actor.ts";
import { type Assignee, findAssignee, listAssignees } from "../../workspaces/assignee.ts";
import { findSubmissions } from "./reach-posts.ts";

/** Who looks after submissions sees all of them: one of a form that they are not bound to is not given to them. */

/** Accounts in the list of who may be assigned. */
const MAX_ASSIGNEES = 200;

/** @param workspaceIds of the submissions */
export function listAssigneesOf(ids: readonly string[], workspaceIds: readonly string[]): Steps<Assignee[]> {
  const distinct = [...new Set(workspaceIds)];
  return listAssignees({ workspaceIds: distinct, sees: seeing(ids), limit: MAX_ASSIGNEES });
}

/** @param reference an id or an e-mail address. @throws usage */
export function findAssigneeOf(ids: readonly string[], reference: string): Steps<Assignee> {
  return findAssignee(reference, seeing(ids));
}

/** Whether somebody sees each of these submissions. */
function seeing(ids: readonly string[]): (viewing: Viewing) => Steps<boolean> {
  const wanted = new Set(ids).size;
  return function* (viewing) {
    const found = yield* findSubmissions({ viewing, access: "submissions:read" }, ids, "anywhere");
    return found.size === wanted;
  };
}
