import type { Steps } from "../../database/steps.ts";
import { FormsvcError } from "../../foundation/errors.ts";
import { findAssigneeOf } from "../manage/reach-assignees.ts";
import { notesOf, type SubmissionLine } from "../stored/submission-json.ts";
import { insertBroughtNotes, updateWork } from "../stored/submission-work.ts";

/**
 * Adds the state, assignee and notes of an exported submission, in the transaction that stores it. An assignee is left out if they have no
 * account here or may not see the submission.
 */
export function* addImportedWork(line: SubmissionLine): Steps<void> {
  const { id, state, assignee } = line;
  const assigneeId = assignee === null ? undefined : yield* findHere(id, assignee.email);
  if (state === "done" || assigneeId !== undefined) yield* updateWork([id], { state, assigneeId });
  yield* insertBroughtNotes(id, notesOf(line));
}

function* findHere(submission: string, email: string): Steps<string | undefined> {
  try {
    return (yield* findAssigneeOf([submission], email)).id;
  } catch (error) {
    if (error instanceof FormsvcError && error.code === "usage") return undefined;
    throw error;
  }
}
