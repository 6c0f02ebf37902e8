import { z } from "zod";
import { readSlice } from "../../database/slices.ts";
import type { Steps } from "../../database/steps.ts";
import { MAX_PAGE_SIZE } from "../../operations/list-page.ts";
import { type Context, operation } from "../../operations/operation.ts";
import {
  browseChosen,
  readSubmissionFilter,
  type SearchParts,
  submissionsInput,
} from "./choose-submissions.ts";
import { type Conceal, concealReasons } from "../stored/conceal-reasons.ts";
import { followSubmissions, type Tail } from "./follow-submissions.ts";
import { type SubmissionJson, submissionJson, submissionShape } from "../stored/submission-json.ts";
import type { SubmissionFilter } from "../stored/submission-store.ts";
import type { StoredSubmission } from "../stored/submission-work.ts";
import { readTail, tailAfter, tailEnd, type TailPage } from "./tail.ts";

const DEFAULT_TAIL = 10;
/** The largest number of submissions read at once for a caller who is not on the machine; 16 submissions of 64 KiB are 1 MiB. */
const DISTANT_PAGE_SIZE = 16;

interface Parts extends SearchParts {
  /** Resolves when something may have been committed since it resolved last. */
  readonly committed: () => Promise<void>;
}

export const tailSubmissions = operation({
  name: "submission.tail",
  summary: "Give the newest submissions, oldest first, and if it follows each new one when it comes",
  kind: "stream",
  access: "submissions:read",
  input: z.strictObject({
    ...submissionsInput,
    limit: z
      .int()
      .min(1)
      .max(MAX_PAGE_SIZE)
      .nullable()
      .default(null)
      .describe(
        `How many stored submissions are given before new ones. Null is ${DEFAULT_TAIL}, ${MAX_PAGE_SIZE} with \`since\` or \`cursor\`, and all with \`cursor\` and \`follow\`.`,
      ),
    cursor: z
      .string()
      .nullable()
      .default(null)
      .describe(
        "Only submissions that were stored after the one with this id, like the last one that was read, in the order of storing.",
      ),
    follow: z
      .boolean()
      .default(false)
      .describe("Whether the answer goes on with each new submission, without end."),
  }),
  output: submissionShape,
  async run(context: Context<Parts>, { cursor, follow, limit, ...input }) {
    const { db, actor } = context;
    const filter = await db.read(() => readSubmissionFilter(context, input));
    const conceal = await db.read(() => concealReasons(context.viewing));
    const asJson = (submissions: AsyncIterable<StoredSubmission>) => eachAsJson(submissions, conceal);
    const readFilter = (): Steps<SubmissionFilter> => readSubmissionFilter(context, input);
    const from = await db.read(() => (cursor === null ? tailEnd() : tailAfter(cursor)));
    const pageSize = actor.kind === "terminal" ? MAX_PAGE_SIZE : DISTANT_PAGE_SIZE;
    const tail = { readFilter, from, pageSize, gone: context.gone };
    if (cursor !== null && follow) return asJson(followSubmissions(db, tail, context.parts.committed));
    if (cursor !== null) return asJson(stored(context, tail, limit ?? MAX_PAGE_SIZE));
    const newest = await readNewest(context, filter, limit ?? sizeOf(filter));
    return asJson(follow ? newestAndNext(context, tail, newest) : give(newest));
  },
});

function sizeOf({ since }: SubmissionFilter): number {
  return since === null ? DEFAULT_TAIL : MAX_PAGE_SIZE;
}

/** Reads the newest submissions, and returns the oldest of them first. */
async function readNewest(
  context: Context<Parts>,
  filter: SubmissionFilter,
  limit: number,
): Promise<readonly StoredSubmission[]> {
  const { data } = await browseChosen(context, filter, { limit, cursor: null });
  return data.toReversed();
}

async function* eachAsJson(
  submissions: AsyncIterable<StoredSubmission>,
  conceal: Conceal,
): AsyncGenerator<SubmissionJson, void> {
  for await (const submission of submissions) yield submissionJson(conceal(submission));
}

async function* give(submissions: readonly StoredSubmission[]): AsyncGenerator<StoredSubmission> {
  yield* submissions;
}

async function* newestAndNext(
  { db, parts }: Context<Parts>,
  tail: Tail,
  newest: readonly StoredSubmission[],
): AsyncGenerator<StoredSubmission> {
  yield* newest;
  // A submission that was committed between the two reads is in both.
  const given = new Set(newest.map(({ id }) => id));
  for await (const submission of followSubmissions(db, tail, parts.committed))
    if (!given.has(submission.id)) yield submission;
}

async function* stored(
  { db }: Context<Parts>,
  { readFilter, from, pageSize, gone }: Tail,
  limit: number,
): AsyncGenerator<StoredSubmission> {
  let position = from;
  for (let left = limit; left > 0;) {
    const wanted = Math.min(left, pageSize);
    const readPage = function* (): Steps<TailPage> {
      return yield* readTail(yield* readFilter(), position, wanted);
    };
    const page = await readSlice(db, readPage, gone);
    yield* page.submissions;
    position = page.position;
    left = page.isCut ? left - page.submissions.length : 0;
  }
}
