import { query } from "../database/database.ts";
import { run, type Steps } from "../database/steps.ts";
import { findFileOf, refuseLeftOut } from "../files/read-file.ts";
import { FormsvcError } from "../foundation/errors.ts";
import { isFileList, type ListedFile } from "../foundation/file-list.ts";
import type { FileFacts } from "../schemas/posted-file.ts";
import type { Submission } from "./submission.ts";

/** The files that a submission's data name, whether they are there or not. */
function namedFiles({ data }: Pick<Submission, "data">): readonly ListedFile[] {
  return Object.values(data).flatMap((value) => (isFileList(value) ? value : []));
}

/** @throws not_found; gone if it was there and is not any more */
export function* getFileOf(submission: Submission, id: string): Steps<FileFacts> {
  const file = yield* findFileOf(submission.id, id);
  if (file !== undefined) {
    yield* refuseLeftOut(id);
    return file;
  }
  if (namedFiles(submission).some((named) => named.id === id)) throw lostFile();
  throw new FormsvcError("not_found", `the submission ${submission.id} has no such file`);
}

/** Of a file that was there. */
export function lostFile(): FormsvcError {
  const message = "The bytes of this file are not kept any more; its name and size are in the submission.";
  return new FormsvcError("gone", message);
}

/** Says in a submission's data that a file is deleted. */
export function* markFileRow({ id, data }: Submission, fileId: string): Steps<void> {
  const marked = Object.entries(data).map(([name, value]) => [
    name,
    isFileList(value)
      ? value.map((file) => (file.id === fileId ? { ...file, state: "deleted" } : file))
      : value,
  ]);
  const text = JSON.stringify(Object.fromEntries(marked));
  yield* run(query.updateTable("submission").set({ data: text }).where("id", "=", id));
}
