import { z } from "zod";
import type { Steps } from "../../database/steps.ts";
import { reachEndpointIds } from "../../endpoints/viewable-endpoints.ts";
import { FormsvcError } from "../../foundation/errors.ts";
import { readTime, TIME_FORMS } from "../../foundation/time-text.ts";
import { maxPageBytes } from "../../operations/list-page.ts";
import type { Context } from "../../operations/operation.ts";
import { findAssigneeId, whoIsMeant } from "../../workspaces/assignee.ts";
import { browseSubmissions, type PageRequest } from "./browse-submissions.ts";
import { MAX_SEARCHED_LENGTH, searchProblem } from "./match-text.ts";
import type { Asker, SearchSlots } from "./search-slots.ts";
import {
  type AssigneeFilter,
  EVERY_SUBMISSION,
  readsEach,
  type SubmissionFilter,
  type SubmissionPage,
} from "../stored/submission-store.ts";
import { WORK_STATES } from "../stored/submission-work.ts";

/** The inputs by which operations choose posts: an endpoint or a workspace, and a period. */
export const postsInput = {
  endpoint: z
    .string()
    .nullable()
    .default(null)
    .describe("Only what was sent to this endpoint: its id, its name if that is unique, or WORKSPACE/NAME."),
  workspace: z
    .string()
    .nullable()
    .default(null)
    .describe("Only what was sent to endpoints of this workspace: its id or name."),
  since: z
    .string()
    .nullable()
    .default(null)
    .describe(
      "Only what came at this time or later: 2026-01-31, 2026-01-31T12:00:00Z, or 24h for the last 24 hours.",
    ),
  until: z
    .string()
    .nullable()
    .default(null)
    .describe("Only what came before this time, written in the same way."),
};

/** The inputs by which operations choose submissions; a tail has them too. */
export const submissionsInput = {
  ...postsInput,
  class: z
    .enum(["low", "medium", "high"])
    .nullable()
    .default(null)
    .describe("Only submissions of this spam class."),
};

/** Further inputs by which operations choose submissions, for which no index exists. */
export const searchInput = {
  search: z
    .string()
    .nullable()
    .default(null)
    .describe(
      'Only submissions that have each of these words in a value, in any letter case; "double quotes" keep words together.',
    ),
  unread: z
    .boolean()
    .default(false)
    .describe("Whether only submissions are given that the account which asks has not read."),
  state: z.enum(WORK_STATES).nullable().default(null).describe("Only submissions in this state."),
  assignee: z
    .string()
    .nullable()
    .default(null)
    .describe(
      "Only submissions that are assigned to this account, by its e-mail address or id; `me` is the account that asks, `none` is nobody.",
    ),
};

const chosen = z.strictObject({ ...submissionsInput, ...searchInput });
const tailed = z.strictObject(submissionsInput);

/** @throws not_found, ambiguous, forbidden; usage for a time, a search text or an account that is not valid */
export function* readSubmissionFilter(
  context: Context,
  {
    class: spamClass,
    ...input
  }: z.output<typeof tailed> & Partial<z.output<typeof chosen>> & { readonly deleted?: boolean },
): Steps<SubmissionFilter> {
  const { search = null, state = null, assignee = null } = input;
  return {
    ...EVERY_SUBMISSION,
    ...(yield* readPostsFilter(context, input)),
    spamClass,
    unreadBy: input.unread === true ? readerOf(context) : null,
    text: checkSearch(search),
    state,
    assignee: assignee === null ? null : yield* readAssignee(context, assignee),
    isDeleted: input.deleted === true,
  };
}

/**
 * Reads which assignee is meant. For a caller who does not see all workspaces, an unknown address finds no submissions instead of an error,
 * so that nobody learns who has an account.
 *
 * @throws usage, not_found
 */
export function* readAssignee(
  { viewing }: Pick<Context, "viewing">,
  reference: string,
): Steps<AssigneeFilter> {
  if (reference === "none") return "nobody";
  return { id: (yield* findAssigneeId(viewing, whoIsMeant(viewing, reference))) ?? "" };
}

const posts = z.strictObject(postsInput);

/** Reads the part of a submission filter that applies to held posts too. */
export function* readPostsFilter(
  context: Context,
  { since, until, ...reference }: z.output<typeof posts>,
): Steps<Pick<SubmissionFilter, "endpointIds" | "since" | "until">> {
  return {
    endpointIds: yield* reachEndpointIds(context, reference),
    since: timeOf(since, context.now),
    until: timeOf(until, context.now),
  };
}

function timeOf(text: string | null, now: number): number | null {
  if (text === null) return null;
  const time = readTime(text, now);
  if (time === null) throw new FormsvcError("usage", `expected ${TIME_FORMS}`);
  return time;
}

function checkSearch(wanted: string | null): string | null {
  if (wanted === "") throw new FormsvcError("usage", `search for 1 to ${MAX_SEARCHED_LENGTH} characters`);
  const problem = wanted === null ? null : searchProblem(wanted);
  if (problem !== null) throw new FormsvcError("usage", problem);
  return wanted;
}

function readerOf({ viewing }: Context): string {
  if (viewing.accountId !== null) return viewing.accountId;
  throw new FormsvcError("usage", "only an account has unread submissions");
}

/** What an operation that reads many submissions needs. */
export interface SearchParts {
  /** A read that looks at submissions one by one waits for a slot here. Null for commands, which do not share the server's slots. */
  readonly searches: Pick<SearchSlots, "run" | "runEach"> | null;
}

/** Runs a read that looks at submissions one by one: it waits for a slot. @throws rate_limited, unavailable */
export function inSearchSlot<Result>(
  context: Context<SearchParts>,
  work: () => Promise<Result>,
): Promise<Result> {
  const { searches } = context.parts;
  return searches === null ? work() : searches.run(askerOf(context), work);
}

/** Reads a page for whoever asks. Only if the filter has it look at submissions one by one, it waits for a slot. @throws as {@link inSearchSlot} */
export function browseChosen(
  context: Context<SearchParts>,
  filter: SubmissionFilter,
  { limit, cursor }: Pick<PageRequest, "limit" | "cursor">,
): Promise<SubmissionPage> {
  const { db, actor, gone } = context;
  const request = { limit, cursor, maxBytes: maxPageBytes(actor), ...(gone && { gone }) };
  const browse = () => browseSubmissions(db, filter, request);
  return readsEach(filter) ? inSearchSlot(context, browse) : browse();
}

/** Reads each part as {@link browseChosen} reads a page. */
export function eachInSearchSlot<Part>(
  context: Context<SearchParts>,
  filter: SubmissionFilter,
  parts: AsyncGenerator<Part>,
): AsyncGenerator<Part> {
  const { searches } = context.parts;
  return searches === null || !readsEach(filter) ? parts : searches.runEach(askerOf(context), parts);
}

const NEVER_GONE = new AbortController().signal;

/** All tokens of an account count as one asker. */
function askerOf({ viewing, gone = NEVER_GONE }: Context): Asker {
  return { name: viewing.accountId ?? viewing.reach?.workspaceId ?? "", gone };
}
