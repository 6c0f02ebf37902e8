import { query } from "../../database/database.ts";
import { deleteSome } from "../../database/some-rows.ts";
import { all, first, run, type Steps, text, textByEngine } from "../../database/steps.ts";
import { LISTED_IDS, listedIds, listParameter } from "../../database/list-parameter.ts";
import { FormsvcError } from "../../foundation/errors.ts";
import { isId } from "../../foundation/id.ts";
import type { SpamClass } from "../../spam/spam-verdict.ts";
import { findEndpoint, mayViewEndpoint } from "../../endpoints/endpoint-store.ts";
import { type LeftOut, readNotSent } from "../../outbox/queue/choose-recipients.ts";
import type { EventParts } from "../../outbox/queue/event.ts";
import type { Viewing } from "../../operations/actor.ts";
import { idOfEndpoint, NUMBER_OF_ENDPOINT } from "./endpoint-number.ts";
import {
  CONTENT_COLUMNS,
  type ContentRow,
  contentValues,
  readContent,
  type Submission,
} from "./submission.ts";
import { type StoredSubmission, withWork, type WorkState } from "./submission-work.ts";

/** A selection of submissions. Null means any. */
export interface SubmissionFilter {
  readonly endpointIds: readonly string[] | null;
  readonly spamClass: StoredSpamClass | null;
  /** Milliseconds since 1970 UTC, inclusive. */
  readonly since: number | null;
  /** Milliseconds since 1970 UTC, exclusive. */
  readonly until: number | null;
  /** The account that must not have read them. */
  readonly unreadBy: string | null;
  /** Words that must each occur in some value, as `createTextMatcher` reads them. */
  readonly text: string | null;
  readonly state: WorkState | null;
  readonly assignee: AssigneeFilter | null;
  /** True selects only submissions in the bin, false only submissions outside it. */
  readonly isDeleted: boolean;
}

/** The id of the assignee, or `nobody` for submissions without one. */
export type AssigneeFilter = { readonly id: string } | "nobody";

/** Whether the filter asks for something that no index has, so that submissions must be looked at one by one. */
export function readsEach(filter: SubmissionFilter): boolean {
  const { spamClass, unreadBy, text: wanted, state, assignee, isDeleted } = filter;
  return [spamClass, unreadBy, wanted, state, assignee].some((each) => each !== null) || isDeleted;
}

export const EVERY_SUBMISSION: SubmissionFilter = {
  endpointIds: null,
  spamClass: null,
  since: null,
  until: null,
  unreadBy: null,
  text: null,
  state: null,
  assignee: null,
  isDeleted: false,
};

/** Blocked posts are never stored as submissions. */
export type StoredSpamClass = Exclude<SpamClass, "blocked">;

export interface SubmissionPage {
  /** The submissions of the page, newest first. */
  readonly data: readonly StoredSubmission[];
  /** The start of the next page; null on the last one. */
  readonly nextCursor: string | null;
}

/** The largest number of characters of a given id that a message repeats. */
const MAX_SHOWN_ID_LENGTH = 100;

const insertSql = (endpointNumber: string): string => `INSERT INTO submission
  (${CONTENT_COLUMNS.join(", ")}, endpoint_number, event_head, event_tail, not_sent)
  VALUES (${CONTENT_COLUMNS.map(() => "?").join(", ")}, ${endpointNumber}, ?, ?, ?)`;

/** Stores a submission; {@link submissionValues} has the parameters. */
export const INSERT_SUBMISSION_SQL = insertSql(NUMBER_OF_ENDPOINT);

/** The same with the number of the endpoint as parameter, instead of its id. */
export const INSERT_NUMBERED_SQL = insertSql("?");

/**
 * The parameters of an insert.
 *
 * @param event null if nobody is notified. @param endpoint the endpoint's number for {@link INSERT_NUMBERED_SQL}, else its id.
 */
export function submissionValues(
  submission: Submission,
  event: EventParts | null,
  endpoint: string | number = submission.endpointId,
): (string | number | null)[] {
  const values: (string | number | null)[] = contentValues(submission);
  values.push(endpoint, event?.head ?? null, event?.tail ?? null, event?.notSent ?? null);
  return values;
}

/** Adds an imported submission, unless its id exists already. {@link importedValues} has the parameters. */
export const ADD_IMPORTED_SQL = `INSERT INTO submission
  (${CONTENT_COLUMNS.join(", ")}, endpoint_number, imported_from)
  VALUES (${CONTENT_COLUMNS.map(() => "?").join(", ")}, ${NUMBER_OF_ENDPOINT}, ?) ON CONFLICT (id) DO NOTHING`;

/** The parameters of {@link ADD_IMPORTED_SQL}. Nobody is notified. */
export function importedValues(submission: Submission): (string | number | null)[] {
  return [...contentValues(submission), submission.endpointId, submission.importedFrom ?? null];
}

const STORED_SQL = `SELECT submission.id, endpoint_number.endpoint_id FROM submission
  JOIN endpoint_number ON endpoint_number.number = submission.endpoint_number WHERE submission.id IN ${LISTED_IDS}`;

/** Returns the endpoint of each of these ids that belongs to a submission. */
export function* findEndpointsOf(ids: readonly string[]): Steps<ReadonlyMap<string, string>> {
  const rows = yield* all(text<{ id: string; endpoint_id: string }>(STORED_SQL, listParameter(ids)));
  return new Map(rows.map(({ id, endpoint_id: endpointId }) => [id, endpointId]));
}

/** The largest size that each of these submissions can have as JSON, in bytes, by id. */
export function* measureSubmissions(ids: readonly string[]): Steps<ReadonlyMap<string, number>> {
  const rows = yield* all(text<{ id: string; bytes: number }>(MEASURE_SQL, listParameter(ids)));
  return new Map(rows.map(({ id, bytes }) => [id, bytes]));
}

/**
 * The constants are upper bounds in bytes. Names of members, ids, numbers, times and the IP address take 400, the member names of unknown
 * fields 60, an assignee 450, and all of a note but its text 500.
 */
const MEASURE_SQL = `SELECT id, octet_length(data) + coalesce(octet_length(unknown_fields) + 60, 0)
    + octet_length(spam_reasons) + 2 * octet_length(user_agent) + 400
    + CASE WHEN EXISTS (SELECT 1 FROM submission_work WHERE submission_work.id = submission.id) THEN 450 ELSE 0 END
    + coalesce((SELECT sum(2 * octet_length(text) + 500) FROM submission_note WHERE submission_id = submission.id), 0)
    AS bytes
  FROM submission WHERE id IN ${LISTED_IDS}`;

/** Reads those of these submissions that exist, in the order of the ids. */
export function* readSubmissions(ids: readonly string[]): Steps<StoredSubmission[]> {
  const rows = yield* all(selectSubmissions().where("id", "in", listedIds(ids)));
  const byId = new Map(rows.map((row) => [row.id, row]));
  return yield* withWork(
    ids.flatMap((id) => {
      const row = byId.get(id);
      return row === undefined ? [] : [toSubmission(row)];
    }),
  );
}

/** @throws not_found */
export function* getSubmission(id: string): Steps<StoredSubmission> {
  const submission = yield* findSubmission(id);
  if (submission === undefined) throw noSubmission(id);
  return submission;
}

/** The recipients that got no message about a submission because of a condition. */
export function* findNotSent(id: string): Steps<readonly LeftOut[]> {
  const row = yield* first(query.selectFrom("submission").select("not_sent").where("id", "=", id));
  return readNotSent(row?.not_sent ?? null);
}

/** @throws not_found, with the same message if there is no such submission and if somebody else owns it. */
export function* getViewableSubmission(viewing: Viewing, id: string): Steps<StoredSubmission> {
  const submission = yield* findSubmission(id);
  if (submission === undefined) throw noSubmission(id);
  const endpoint = yield* findEndpoint(submission.endpointId);
  if (endpoint === undefined || !(yield* mayViewEndpoint(viewing, endpoint.workspaceId, endpoint.id)))
    throw noSubmission(id);
  return submission;
}

/** Finds a submission, also in the bin. */
export function* findSubmission(id: string): Steps<StoredSubmission | undefined> {
  const row = isId("sub", id) ? yield* first(selectSubmissions().where("id", "=", id)) : undefined;
  return row === undefined ? undefined : (yield* withWork([toSubmission(row)]))[0];
}

/** @param placed the part in which the submission was looked for. */
export function noSubmission(
  id: string,
  consequence = "",
  placed: "kept" | "binned" | "anywhere" = "kept",
): FormsvcError {
  const shown = id.slice(0, MAX_SHOWN_ID_LENGTH);
  const where = placed === "binned" ? " in the bin" : "";
  return new FormsvcError("not_found", `there is no submission ${shown}${where}${consequence}`);
}

/** Runs inside the caller's transaction. */
export function* insertSubmission(submission: Submission, event: EventParts): Steps<void> {
  yield* run(text(INSERT_SUBMISSION_SQL, ...submissionValues(submission, event)));
}

/** Deletes these submissions, all or none. Returns the endpoint of each. @throws not_found naming the first id that does not exist. */
export function* deleteSubmissionRows(ids: readonly string[]): Steps<readonly string[]> {
  const endpointIds: string[] = [];
  for (const id of ids) {
    const deleted = yield* first(
      query.deleteFrom("submission").where("id", "=", id).returning(idOfEndpoint.as("endpoint_id")),
    );
    if (deleted === undefined) throw noSubmission(id, "; nothing was deleted");
    endpointIds.push(deleted.endpoint_id);
  }
  return endpointIds;
}

/** Deletes at most `limit` submissions of an endpoint, the oldest first. Returns the number deleted. */
export function deleteSubmissionsOf(endpointId: string, limit: number): Steps<number> {
  return run(textByEngine(DELETE_SOME_SQL, endpointId, endpointId, limit));
}

/** Pairs are compared for the reason that `retention.ts` gives. */
const DELETE_SOME_SQL = deleteSome(
  "submission",
  ["id"],
  (id) =>
    `SELECT ${id} FROM submission
     WHERE (endpoint_number, id) >= (${NUMBER_OF_ENDPOINT}, '') AND (endpoint_number, id) < (${NUMBER_OF_ENDPOINT} + 1, '')
     ORDER BY submission.endpoint_number, submission.id LIMIT ?`,
);

function selectSubmissions() {
  return query
    .selectFrom("submission")
    .select([...CONTENT_COLUMNS, "imported_from"])
    .select(idOfEndpoint.as("endpoint_id"));
}

type SubmissionRow = ContentRow & { readonly endpoint_id: string; readonly imported_from: string | null };

function toSubmission(row: SubmissionRow): Submission {
  const importedFrom = row.imported_from;
  return {
    ...readContent(row),
    endpointId: row.endpoint_id,
    ...(importedFrom !== null && { importedFrom }),
  };
}
