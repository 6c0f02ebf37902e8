import type { Steps } from "../../database/steps.ts";
import type { Viewing } from "../../operations/actor.ts";
import { type Assignee, findAssignee, listAssignees } from "../../workspaces/assignee.ts";
import { findReachableSubmissions } from "./reach-posts.ts";

/** An assignee must be able to see each submission that is assigned to them: a member who is bound to other forms is not offered. */

/** The largest number of accounts in the list of possible assignees. */
const MAX_ASSIGNEES = 200;

/** Lists the accounts that all these submissions may be assigned to. @param workspaceIds the workspaces of the submissions */
export function listAssigneesOf(ids: readonly string[], workspaceIds: readonly string[]): Steps<Assignee[]> {
  const distinct = [...new Set(workspaceIds)];
  return listAssignees({ workspaceIds: distinct, sees: seeing(ids), limit: MAX_ASSIGNEES });
}

/** Finds an account that all these submissions may be assigned to. @param reference an id or an e-mail address. @throws usage */
export function findAssigneeOf(ids: readonly string[], reference: string): Steps<Assignee> {
  return findAssignee(reference, seeing(ids));
}

/** Returns a function that says whether somebody sees all of these submissions. */
function seeing(ids: readonly string[]): (viewing: Viewing) => Steps<boolean> {
  const wanted = new Set(ids).size;
  return function* (viewing) {
    const found = yield* findReachableSubmissions({ viewing, access: "submissions:read" }, ids, "anywhere");
    return found.size === wanted;
  };
}
