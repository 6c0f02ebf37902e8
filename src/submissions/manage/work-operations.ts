import { z } from "zod";
import { yieldToOthers } from "../../database/slices.ts";
import type { Steps } from "../../database/steps.ts";
import { dropFiles, listFileIdsOf } from "../../files/file-store.ts";
import { FormsvcError } from "../../foundation/errors.ts";
import type { Actor } from "../../operations/actor.ts";
import { changed, type Context, operation } from "../../operations/operation.ts";
import {
  type EndpointsReference,
  listEndpointNames,
  reachEndpointIds,
} from "../../endpoints/viewable-endpoints.ts";
import { whoIsMeant } from "../../workspaces/assignee.ts";
import { requireAlso } from "../../workspaces/reach.ts";
import { postsInput } from "../find/choose-submissions.ts";
import { reachSubmissions } from "./reach-posts.ts";
import { findAssigneeOf } from "./reach-assignees.ts";
import { deleteBinRows, insertBinRows, listBinOf } from "../stored/submission-bin.ts";
import {
  assigneeShape,
  noteJson,
  noteShape,
  submissionId,
  submissionIds,
} from "../stored/submission-json.ts";
import { changesOf } from "./submission-operations.ts";
import { deleteSubmissionRows } from "../stored/submission-store.ts";
import {
  cleanNote,
  insertNote,
  MAX_NOTE_LENGTH,
  MAX_NOTES,
  updateWork,
  WORK_STATES,
} from "../stored/submission-work.ts";

export const setSubmissions = operation({
  name: "submission.set",
  summary: "Say of submissions that they are done or open, and who looks after them",
  kind: "write",
  access: "submissions:write",
  input: z.strictObject({
    submissions: submissionIds,
    state: z.enum(WORK_STATES).optional().describe("The new state; without it, the state stays as it is."),
    assignee: z
      .string()
      .nullable()
      .optional()
      .describe(
        "E-mail address or id of an account that sees the workspace; `me` is the account that asks, null or `none` is nobody. Without it, the assignee stays.",
      ),
  }),
  output: z.strictObject({
    set: submissionIds,
    state: z.enum(WORK_STATES).optional(),
    assignee: assigneeShape.nullable().optional(),
  }),
  *run(context, { submissions: wanted, state, assignee: reference }) {
    if (state === undefined && reference === undefined)
      throw new FormsvcError("usage", "say what is to be set: the state, or who is assigned");
    const workspaceIds = yield* reachSubmissions(context, wanted, { consequence: "; nothing was changed" });
    const isNobody = reference === null || reference === "none";
    const assignee =
      reference === undefined
        ? undefined
        : isNobody
          ? null
          : yield* findAssigneeOf(wanted, whoIsMeant(context.viewing, reference));
    yield* updateWork(wanted, { state, assigneeId: assignee === null ? null : assignee?.id });
    const did = [
      ...(state === undefined ? [] : [state]),
      ...(assignee === undefined ? [] : [`assigned to ${assignee?.email ?? "nobody"}`]),
    ].join(", ");
    const set = { set: wanted, ...(state && { state }), ...(assignee !== undefined && { assignee }) };
    return changed(set, ...changesOf(wanted, workspaceIds, did));
  },
});

export const addNote = operation({
  name: "submission.note",
  summary: "Add a note to a submission, for those who see it",
  kind: "write",
  access: "submissions:write",
  input: z.strictObject({
    submission: submissionId,
    text: z
      .string()
      .describe(
        `Plain text of 1 to ${MAX_NOTE_LENGTH} characters; a submission has at most ${MAX_NOTES} notes.`,
      ),
  }),
  output: z.strictObject({ note: noteShape }),
  *run(context, { submission, text }) {
    const words = readNote(text);
    const [workspaceId = null] = yield* reachSubmissions(context, [submission]);
    const note = yield* insertNote(submission, words, nameOf(context.actor), context.now);
    return changed({ note: noteJson(note) }, { subject: submission, workspaceId, detail: note.id });
  },
});

/** Cleans the text of a note. @throws usage if it is empty or too long */
function readNote(text: string): string {
  const words = cleanNote(text);
  const length = Array.from(words).length;
  if (length >= 1 && length <= MAX_NOTE_LENGTH) return words;
  throw new FormsvcError(
    "usage",
    length === 0
      ? "the note is empty"
      : `the note has ${length} characters; write ${MAX_NOTE_LENGTH} at most, or two notes`,
  );
}

/** The name of a note's author; null means the command line. */
function nameOf(actor: Actor): string | null {
  if (actor.kind === "account") return actor.email;
  if (actor.kind === "token") return actor.account?.email ?? actor.name;
  return null;
}

export const deleteSubmissions = operation({
  name: "submission.delete",
  summary: "Delete submissions, all of them or none: into the bin, or for good",
  kind: "danger",
  access: "submissions:write",
  furtherAccess: ["submissions:purge"],
  input: z.strictObject({
    submissions: submissionIds,
    now: z
      .boolean()
      .default(false)
      .describe(
        "Whether the submissions are deleted for good, even if they are in the bin already. Without a bin (`submissions.binDays` 0) they always are.",
      ),
  }),
  output: z.strictObject({ deleted: submissionIds }),
  async run(context, { submissions, now }) {
    const wanted = [...new Set(submissions)];
    const isFinal = now || context.config.submissions.binDays === 0;
    const fileIds = await context.transact(function* () {
      const consequence = "; nothing was deleted";
      const bin = now ? "anywhere" : "kept";
      const workspaceIds = yield* reachSubmissions(context, wanted, { consequence, bin });
      if (now)
        for (const each of new Set(workspaceIds)) yield* requireAlso(context, "submissions:purge", each);
      const lost = isFinal ? yield* listFileIdsOf(wanted) : [];
      yield* isFinal ? deleteSubmissionRows(wanted) : insertBinRows(wanted, context.now);
      const did = isFinal ? "deleted for good" : "deleted";
      return changed(lost, ...changesOf(wanted, workspaceIds, did));
    });
    await dropFiles(context.db, fileIds);
    return { deleted: wanted };
  },
});

export const undeleteSubmissions = operation({
  name: "submission.undelete",
  summary: "Bring submissions back out of the bin, all of them or none",
  kind: "write",
  access: "submissions:write",
  input: z.strictObject({ submissions: submissionIds }),
  output: z.strictObject({ undeleted: submissionIds }),
  *run(context, { submissions: wanted }) {
    const consequence = "; nothing was changed";
    const workspaceIds = yield* reachSubmissions(context, wanted, { consequence, bin: "binned" });
    yield* deleteBinRows(wanted);
    return changed({ undeleted: wanted }, ...changesOf(wanted, workspaceIds, "brought back"));
  },
});

/** The number of submissions deleted in one transaction. */
const EMPTIED_AT_ONCE = 200;

export const emptyBin = operation({
  name: "submission.empty-bin",
  summary: "Delete for good what is in the bin",
  kind: "danger",
  access: "submissions:purge",
  input: z.strictObject({ endpoint: postsInput.endpoint, workspace: postsInput.workspace }),
  output: z.strictObject({ deleted: z.number() }),
  async *run(context, reference) {
    const endpointIds = await context.db.read(() => chosenEndpoints(context, reference));
    let deleted = 0;
    for (const endpointId of endpointIds) {
      for (;;) {
        await yieldToOthers();
        const { some, fileIds } = await context.transact(function* () {
          const binned = yield* listBinOf(endpointId, EMPTIED_AT_ONCE);
          const workspaceIds = yield* reachSubmissions(context, binned, { bin: "binned" });
          const emptied = { some: binned.length, fileIds: yield* listFileIdsOf(binned) };
          yield* deleteSubmissionRows(binned);
          return changed(emptied, ...changesOf(binned, workspaceIds, "deleted for good"));
        });
        await dropFiles(context.db, fileIds);
        deleted += some;
        if (some < EMPTIED_AT_ONCE) break;
        yield { done: deleted, total: null };
      }
    }
    return { deleted };
  },
});

function* chosenEndpoints(context: Context, reference: EndpointsReference): Steps<readonly string[]> {
  const ids = yield* reachEndpointIds(context, reference);
  return ids ?? (yield* listEndpointNames(context.viewing, null)).map((endpoint) => endpoint.id);
}
