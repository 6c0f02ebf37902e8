import { z } from "zod";
import { yieldToOthers } from "../../database/slices.ts";
import type { Steps } from "../../database/steps.ts";
import { FormsvcError } from "../../foundation/errors.ts";
import { isSameAddress } from "../../foundation/mail-address.ts";
import { KeptLessons } from "../../history/kept-lessons.ts";
import { findMark } from "../../history/teach.ts";
import type { Viewing } from "../../operations/actor.ts";
import type { Access } from "../../operations/access.ts";
import { nextCursor, pageInput } from "../../operations/list-page.ts";
import { changed, type Context, operation, type OwnChange } from "../../operations/operation.ts";
import { mayAlso } from "../../workspaces/reach.ts";
import { getAccount } from "../../workspaces/workspace-store.ts";
import { concealReasons } from "../stored/conceal-reasons.ts";
import {
  browseChosen,
  readSubmissionFilter,
  type SearchParts,
  searchInput,
  submissionsInput,
} from "../find/choose-submissions.ts";
import { markSubmissions } from "../stored/mark-submission.ts";
import { reachSubmission, reachSubmissions, reachWorkspacesOf } from "./reach-posts.ts";
import { deleteReadRows, insertReadRows } from "../stored/read-marks.ts";
import {
  notSentShape,
  submissionId,
  submissionIds,
  submissionJson,
  submissionShape,
} from "../stored/submission-json.ts";
import { findNotSent, measureSubmissions } from "../stored/submission-store.ts";

export const listSubmissions = operation({
  name: "submission.list",
  summary: "List submissions, newest first",
  kind: "read",
  access: "submissions:read",
  input: z.strictObject({
    ...submissionsInput,
    ...searchInput,
    ...pageInput,
    deleted: z
      .boolean()
      .default(false)
      .describe("Whether only submissions in the bin are listed; false lists those that are not in it."),
  }),
  output: z.strictObject({ data: z.array(submissionShape), next_cursor: nextCursor }),
  async run(context: Context<SearchParts>, { limit, cursor, ...input }) {
    const { db } = context;
    const filter = await db.read(() => readSubmissionFilter(context, input));
    const page = await browseChosen(context, filter, { limit, cursor });
    const conceal = await db.read(() => concealReasons(context.viewing));
    return { data: page.data.map((each) => submissionJson(conceal(each))), next_cursor: page.nextCursor };
  },
});

export const showSubmission = operation({
  name: "submission.show",
  summary: "Show a submission with its spam reasons",
  kind: "read",
  access: "submissions:read",
  input: z.strictObject({
    submission: submissionId,
    deleted: z.boolean().default(false).describe("Whether the submission is shown even if it is in the bin."),
  }),
  output: submissionShape.extend({
    schema_version: z
      .number()
      .describe("The version of the endpoint's schema that the submission was checked with."),
    mark: z
      .enum(["spam", "ham"])
      .nullable()
      .describe("What somebody marked the submission as, to teach the filter; null if nobody did."),
    not_sent: notSentShape.optional(),
  }),
  *run(context, { submission: reference, deleted }) {
    const submission = yield* reachSubmission(context, reference, deleted ? "anywhere" : "kept");
    const { schemaVersion } = submission;
    const mark = yield* findMark(submission.id);
    const conceal = yield* concealReasons(context.viewing);
    const leftOut = yield* findNotSent(submission.id);
    const showsUnsent =
      leftOut.length > 0 && (yield* mayAlsoAt(context, "recipients:read", submission.endpointId));
    return {
      ...submissionJson(conceal(submission)),
      schema_version: schemaVersion,
      mark,
      ...(showsUnsent && { not_sent: [...leftOut] }),
    };
  },
});

function* mayAlsoAt(context: Context, access: Access, endpointId: string): Steps<boolean> {
  const workspaceId = (yield* reachWorkspacesOf(context, [endpointId])).get(endpointId);
  return workspaceId !== undefined && (yield* mayAlso(context, access, workspaceId));
}

/** The largest number of submissions marked in one transaction: each mark teaches the filter of a workspace for a part of a millisecond. */
const MARKED_AT_ONCE = 10;
/** The number of bytes that several submissions marked in one transaction have at most: reading 20 KB of text takes milliseconds. */
const MARKED_BYTES_AT_ONCE = 16_384;

/** Cuts the list of submissions into batches, each to be marked in one transaction. */
function* markBatches(
  ids: readonly string[],
  sizes: ReadonlyMap<string, number>,
): Generator<readonly string[]> {
  let batch: string[] = [];
  let bytes = 0;
  for (const id of ids) {
    const size = sizes.get(id) ?? 0;
    if (batch.length === MARKED_AT_ONCE || (batch.length > 0 && bytes + size > MARKED_BYTES_AT_ONCE)) {
      yield batch;
      [batch, bytes] = [[], 0];
    }
    batch.push(id);
    bytes += size;
  }
  if (batch.length > 0) yield batch;
}

export const markSubmissionsAs = operation({
  name: "submission.mark",
  summary: "Teach the workspace's filter that submissions are spam or ham, or take that back",
  kind: "write",
  access: "submissions:write",
  input: z.strictObject({
    submissions: submissionIds,
    mark: z
      .enum(["spam", "ham"])
      .nullable()
      .describe("What the submissions are; null takes an earlier mark back."),
  }),
  output: z.strictObject({ marked: submissionIds, mark: z.enum(["spam", "ham"]).nullable() }),
  async *run(context, { submissions: wanted, mark }) {
    const sizes = await context.db.read(function* () {
      yield* reachSubmissions(context, wanted);
      return yield* measureSubmissions(wanted);
    });
    const kept = new KeptLessons();
    let done = 0;
    for (const some of markBatches(wanted, sizes)) {
      await yieldToOthers();
      await context.transact(function* () {
        yield* reachSubmissions(context, some);
        const workspaceIds = yield* markSubmissions(some, { mark, kept }, context.now);
        return changed(undefined, ...changesOf(some, workspaceIds, `marked ${mark ?? "none"}`));
      });
      kept.accept();
      done += some.length;
      if (done < wanted.length) yield { done, total: wanted.length };
    }
    return { marked: wanted, mark };
  },
});

/** Not in the audit record, and not durable at once: little is lost if a crash forgets who has read what. */
export const markSubmissionsRead = operation({
  name: "submission.mark-read",
  summary: "Note that an account has read submissions, as opening them in the dashboard does",
  kind: "write",
  access: "submissions:mark-read",
  input: z.strictObject({
    submissions: submissionIds,
    read: z.boolean().default(true).describe("False shows them as unread again."),
    account: z
      .string()
      .nullable()
      .default(null)
      .describe(
        "Id or e-mail address of the account that has read the submissions; null is the account that asks. Another one can be named only on the server's machine.",
      ),
  }),
  output: z.strictObject({ submissions: submissionIds, read: z.boolean() }),
  async run(context, { submissions: wanted, read, account }) {
    await context.db.relaxedTransaction(function* () {
      const { accountId, viewing } = yield* readerOf(context, account);
      yield* reachSubmissions({ ...context, viewing }, wanted);
      yield* read ? insertReadRows(accountId, wanted) : deleteReadRows(accountId, wanted);
    });
    return { submissions: wanted, read };
  },
});

interface Reader {
  readonly accountId: string;
  readonly viewing: Viewing;
}

/** Returns the account that has read the submissions. @throws usage, forbidden, not_found */
function* readerOf({ actor, viewing }: Context, reference: string | null): Steps<Reader> {
  if (actor.kind === "terminal" || actor.kind === "server") {
    if (reference === null) throw new FormsvcError("usage", "name the account that has read them");
    const { id: accountId, isOperator } = yield* getAccount(reference);
    return { accountId, viewing: { accountId, isOperator } };
  }
  const { accountId } = viewing;
  if (accountId === null)
    throw new FormsvcError("forbidden", "only an account has read something, and the token has none");
  if (reference === null || reference === accountId) return { accountId, viewing };
  // No other account is looked for, so that nobody learns which addresses have one.
  const own = yield* getAccount(accountId);
  const isOwn = isSameAddress(own.email, reference.trim());
  if (!isOwn) throw new FormsvcError("forbidden", `a ${actor.kind} may name its own account only`);
  return { accountId, viewing };
}

/** The entries of the audit record about some posts: one for each workspace. */
export function changesOf(
  postIds: readonly string[],
  workspaceIds: readonly string[],
  did: string,
): readonly OwnChange[] {
  return [...new Set(workspaceIds)].map((workspaceId) => {
    const own = postIds.filter((_id, index) => workspaceIds[index] === workspaceId);
    return { subject: own.join(" "), workspaceId, detail: `${own.length} ${did}` };
  });
}
