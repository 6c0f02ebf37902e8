import { query } from "../../database/database.ts";
import { run, type Steps } from "../../database/steps.ts";
import { findFileOf, listFilesOf, refuseUnreadable } from "../../files/read-file.ts";
import { FormsvcError } from "../../foundation/errors.ts";
import { isFileList, type ListedFile } from "../../foundation/file-list.ts";
import type { FileFacts } from "../../schemas/posted-file.ts";
import { withStates } from "./scanned-files.ts";
import type { Submission } from "../stored/submission.ts";

/** The files that a submission's data names, whether they still exist or not. */
export function namedFiles({ data }: Pick<Submission, "data">): readonly ListedFile[] {
  return Object.values(data).flatMap((value) => (isFileList(value) ? value : []));
}

/**
 * Checks that at least one file of a submission still exists. @throws for its first file as {@link getFileOf} does; not_found if its data
 * names no file
 */
export function* requireFiles(submission: Submission): Steps<void> {
  if ((yield* listFilesOf(submission.id)).length > 0) return;
  yield* getFileOf(submission, namedFiles(submission)[0]?.id ?? "");
}

/**
 * Finds a file of a submission that may be read. @throws not_found; gone if it was deleted or had a virus; as {@link refuseUnreadable} does
 */
export function* getFileOf(submission: Submission, id: string): Steps<FileFacts> {
  const file = yield* findFileOf(submission.id, id);
  if (file !== undefined) {
    yield* refuseUnreadable(id);
    return file;
  }
  const named = namedFiles(submission).find((each) => each.id === id);
  if (named !== undefined) throw lostFile(named);
  throw new FormsvcError("not_found", `the submission ${submission.id} has no such file`);
}

/** The error for a file that existed and is deleted. */
export function lostFile({ state, verdict = "a virus" }: Partial<ListedFile> = {}): FormsvcError {
  const message =
    state === "infected"
      ? `the scanner found ${verdict} in this file, so its bytes were deleted; its name and size are in the submission`
      : "the bytes of this file are not kept any more; its name and size are in the submission";
  return new FormsvcError("gone", message);
}

/** Marks a file as deleted in the data of its submission. */
export function* markFileRow({ id, data }: Submission, fileId: string): Steps<void> {
  const marked = JSON.stringify(withStates(data, new Map([[fileId, { state: "deleted" }]])));
  yield* run(query.updateTable("submission").set({ data: marked }).where("id", "=", id));
}
