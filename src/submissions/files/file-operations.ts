import { z } from "zod";
import type { Steps } from "../../database/steps.ts";
import { getEndpoint } from "../../endpoints/endpoint-store.ts";
import { reachEndpointIds } from "../../endpoints/viewable-endpoints.ts";
import { dropFiles, releaseFile } from "../../files/file-store.ts";
import { findFile, type FoundFile, listFiles, readBytes, refuseUnreadable } from "../../files/read-file.ts";
import { toIsoTime } from "../../foundation/clock.ts";
import { FormsvcError } from "../../foundation/errors.ts";
import { checkCursor } from "../../foundation/id.ts";
import { nextCursor, pageInput } from "../../operations/list-page.ts";
import { changed, operation } from "../../operations/operation.ts";
import type { Asking } from "../../workspaces/reach.ts";
import { postsInput } from "../find/choose-submissions.ts";
import { reachSubmission } from "../manage/reach-posts.ts";
import { listBinned } from "../stored/submission-bin.ts";
import { markFileRow } from "./submission-files.ts";
import type { StoredSubmission } from "../stored/submission-work.ts";

/** Longest part of a given id that a message repeats, in characters. */
const MAX_SHOWN_ID_LENGTH = 100;

const id = z.string().describe("`fil_` and 26 characters.");
const fileInput = z.strictObject({ file: id });

/** A file, without its bytes. */
const fileShape = z.strictObject({
  id,
  name: z
    .string()
    .describe("The name that was sent, without path and control characters; 200 characters at most."),
  size: z.number().describe("The size in bytes."),
  type: z.string().describe("The media type, as found from the content."),
  sha256: z.string().describe("The SHA-256 of the bytes, in hexadecimal."),
  submission_id: z.string(),
  endpoint_id: z.string(),
  created_at: z.iso.datetime(),
});

export type FileJson = z.output<typeof fileShape>;

export const listAllFiles = operation({
  name: "file.list",
  summary: "List the files of submissions, newest first",
  kind: "read",
  access: "submissions:read",
  input: z.strictObject({
    endpoint: postsInput.endpoint,
    workspace: postsInput.workspace,
    submission: z.string().nullable().default(null).describe("Only files of the submission with this id."),
    ...pageInput,
  }),
  output: z.strictObject({
    data: z.array(fileShape),
    next_cursor: nextCursor.describe("A page may have fewer files than `limit` while there are more."),
  }),
  *run(context, { endpoint, workspace, submission, limit, cursor }) {
    const endpointIds = yield* reachEndpointIds(context, { endpoint, workspace });
    const submissionId = submission === null ? null : (yield* reachSubmission(context, submission)).id;
    checkCursor("fil", cursor);
    // One file more than the limit shows that another page follows. A page leaves out files of submissions in the bin, so it may have
    // fewer.
    const found = yield* listFiles({ endpointIds, submissionId, before: cursor, limit: limit + 1 });
    const page = found.slice(0, limit);
    const binned = yield* listBinned(page.map((file) => file.submissionId));
    const data = page.filter((file) => !binned.has(file.submissionId)).map(fileJson);
    return { data, next_cursor: found.length > limit ? (page.at(-1)?.id ?? null) : null };
  },
});

export const showFile = operation({
  name: "file.show",
  summary: "Show a file's name, size, type and SHA-256",
  kind: "read",
  access: "submissions:read",
  input: fileInput,
  output: z.strictObject({ file: fileShape }),
  *run(context, { file }) {
    return { file: fileJson((yield* reachFile(context, file)).file) };
  },
});

export const saveFile = operation({
  name: "file.save",
  summary: "Give the bytes of a file",
  kind: "stream",
  access: "submissions:read",
  input: fileInput,
  output: z.strictObject({
    file: fileShape.describe("What the file is; the same in each part."),
    bytes: z.string().describe("Bytes of the file in base64: they follow the bytes of the part before."),
  }),
  async run({ db, ...context }, { file: reference }) {
    const { file } = await db.read(function* () {
      const reached = yield* reachFile(context, reference);
      yield* refuseUnreadable(reached.file.id);
      return reached;
    });
    const shown = fileJson(file);
    const bytes = readBytes(db, file.id, { first: 0, last: file.size - 1 });
    return (async function* () {
      for await (const chunk of bytes) yield { file: shown, bytes: (chunk as Buffer).toString("base64") };
    })();
  },
});

/** Ends when the bytes of the file are deleted. The submission keeps the file's name and size, and says that it is deleted. */
export const deleteFile = operation({
  name: "file.delete",
  summary: "Delete the bytes of a file for good; its name and size stay in the submission",
  kind: "danger",
  access: "submissions:write",
  input: fileInput,
  output: z.strictObject({ deleted: id }),
  async run(context, { file: reference }) {
    await context.transact(function* () {
      const { file, submission } = yield* reachFile(context, reference);
      yield* markFileRow(submission, file.id);
      yield* releaseFile(file.id);
      const { workspaceId } = yield* getEndpoint(submission.endpointId);
      return changed(undefined, { subject: file.id, workspaceId, detail: `of ${submission.id}` });
    });
    await dropFiles(context.db, [reference]);
    return { deleted: reference };
  },
});

/**
 * Finds a file with its submission. @throws not_found, with the same message if there is no such file and if the caller may not see it;
 * forbidden
 */
function* reachFile(
  asking: Asking,
  reference: string,
): Steps<{ readonly file: FoundFile; readonly submission: StoredSubmission }> {
  const file = yield* findFile(reference);
  if (file === undefined) throw noFile(reference);
  try {
    return { file, submission: yield* reachSubmission(asking, file.submissionId) };
  } catch (error) {
    if (error instanceof FormsvcError && error.code === "not_found") throw noFile(reference);
    throw error;
  }
}

function noFile(reference: string): FormsvcError {
  return new FormsvcError("not_found", `there is no file ${reference.slice(0, MAX_SHOWN_ID_LENGTH)}`);
}

function fileJson({ submissionId, endpointId, createdAt, ...facts }: FoundFile): FileJson {
  const { id: fileId, name, size, type, sha256 } = facts;
  const origin = { submission_id: submissionId, endpoint_id: endpointId, created_at: toIsoTime(createdAt) };
  return { id: fileId, name, size, type, sha256, ...origin };
}
