import { all, run, type Steps, text } from "../../database/steps.ts";
import { LIST, LISTED, listParameter } from "../../database/list-parameter.ts";
import { FormsvcError } from "../../foundation/errors.ts";
import { newId } from "../../foundation/id.ts";
import { type Assignee, readEmails } from "../../workspaces/assignee.ts";
import type { Submission } from "./submission.ts";

/*
 * What people do about submissions. Nothing of it stands in the submission's own row: a post writes no more than before, and a text of
 * 64 KiB is not written again when somebody ticks it off.
 */

export const WORK_STATES = ["open", "done"] as const;
export type WorkState = (typeof WORK_STATES)[number];

export interface Note {
  readonly id: string;
  readonly text: string;
  /** The address of the account, or the name of the token, at that time; null is the command line. */
  readonly by: string | null;
  readonly createdAt: number;
}

export interface SubmissionWork {
  readonly state: WorkState;
  readonly assignee: Assignee | null;
  /** The oldest first. */
  readonly notes: readonly Note[];
  /** Since when it is in the bin; null if it is not. */
  readonly deletedAt: number | null;
}

/** A submission as it is read, with what people do about it. */
export type StoredSubmission = Submission & SubmissionWork;

/** Of what nobody did anything about. */
export const UNTOUCHED: SubmissionWork = { state: "open", assignee: null, notes: [], deletedAt: null };

/** Characters of one note, and notes of one submission. */
export const MAX_NOTE_LENGTH = 2000;
export const MAX_NOTES = 100;

interface WorkRow {
  readonly id: string;
  readonly state: WorkState | null;
  readonly assignee_id: string | null;
  readonly deleted_at: number | null;
  readonly notes: number;
}

/** Only those that somebody did something about. */
const TOUCHED_SQL = `SELECT * FROM (
  SELECT wanted.key AS id, work.state, work.assignee_id, bin.deleted_at,
    (SELECT count(*) FROM submission_note WHERE submission_id = wanted.key) AS notes
  FROM ${LIST} AS wanted
    LEFT JOIN submission_work AS work ON work.id = wanted.key
    LEFT JOIN submission_bin AS bin ON bin.id = wanted.key
  ) AS found WHERE state IS NOT NULL OR deleted_at IS NOT NULL OR notes > 0`;

const NOTES_SQL = `SELECT id, submission_id, text, author, created_at FROM submission_note
  WHERE submission_id IN ${LISTED} ORDER BY id`;

interface NoteRow {
  readonly id: string;
  readonly submission_id: string;
  readonly text: string;
  readonly author: string | null;
  readonly created_at: number;
}

/** These submissions with what people do about them, in their order. */
export function* withWork(submissions: readonly Submission[]): Steps<StoredSubmission[]> {
  if (submissions.length === 0) return [];
  const ids = submissions.map(({ id }) => id);
  const rows = yield* all(text<WorkRow>(TOUCHED_SQL, listParameter(ids)));
  const touched = new Map(rows.map((row) => [row.id, row]));
  const noted = rows.filter(({ notes }) => notes > 0).map(({ id }) => id);
  const found = noted.length === 0 ? [] : yield* all(text<NoteRow>(NOTES_SQL, listParameter(noted)));
  const notes = Map.groupBy(found, (row) => row.submission_id);
  const emails = yield* readEmails(rows.flatMap(({ assignee_id: id }) => id ?? []));
  return submissions.map((submission) => ({
    ...submission,
    ...workOf(touched.get(submission.id), emails, notes.get(submission.id)),
  }));
}

function workOf(
  row: WorkRow | undefined,
  emails: ReadonlyMap<string, string>,
  notes: readonly NoteRow[] = [],
): SubmissionWork {
  if (row === undefined) return UNTOUCHED;
  const { state, assignee_id: id, deleted_at: deletedAt } = row;
  const email = id === null ? undefined : emails.get(id);
  return {
    state: state ?? "open",
    assignee: id === null || email === undefined ? null : { id, email },
    notes: notes.map((note) => ({
      id: note.id,
      text: note.text,
      by: note.author,
      createdAt: note.created_at,
    })),
    deletedAt,
  };
}

/** What is set; what is undefined stays as it is. */
export interface WorkChange {
  readonly state: WorkState | undefined;
  /** The id of an account; null is nobody. */
  readonly assigneeId: string | null | undefined;
}

/** Two people who set different things both have what they set, and of the same thing the last one counts. */
export function* updateWork(ids: readonly string[], { state, assigneeId }: WorkChange): Steps<void> {
  const set = [
    ...(state === undefined ? [] : ["state = excluded.state"]),
    ...(assigneeId === undefined ? [] : ["assignee_id = excluded.assignee_id"]),
  ];
  const sql = `INSERT INTO submission_work (id, endpoint_number, state, assignee_id)
    SELECT id, endpoint_number, CAST(? AS text), CAST(? AS text) FROM submission
      WHERE id IN ${LISTED}
    ON CONFLICT (id) DO UPDATE SET ${set.join(", ")}`;
  yield* run(text(sql, state ?? "open", assigneeId ?? null, listParameter(ids)));
}

const COUNT_NOTES_SQL = "SELECT count(*) AS notes FROM submission_note WHERE submission_id = ?";

/** @param by see {@link Note}. @throws conflict if it has as many as it may have */
export function* insertNote(id: string, words: string, by: string | null, now: number): Steps<Note> {
  const [counted] = yield* all(text<{ notes: number }>(COUNT_NOTES_SQL, id));
  if ((counted?.notes ?? 0) >= MAX_NOTES)
    throw new FormsvcError("conflict", `the submission ${id} has ${MAX_NOTES} notes, and no room for more`);
  const note = { id: newId("note", now), text: words, by, createdAt: now };
  const sql =
    "INSERT INTO submission_note (id, submission_id, text, author, created_at) VALUES (?, ?, ?, ?, ?)";
  yield* run(text(sql, note.id, id, words, by, now));
  return note;
}

/** A note as an export has it. */
export type BroughtNote = Pick<Note, "text" | "by" | "createdAt">;

/** Says that nobody here wrote it: whoever brings an export can change it before. */
const BROUGHT = " (imported)";

/** Adds the notes of an export to a submission that comes with it. They name who wrote them there. */
export function* insertBroughtNotes(id: string, notes: readonly BroughtNote[]): Steps<void> {
  const sql =
    "INSERT INTO submission_note (id, submission_id, text, author, created_at) VALUES (?, ?, ?, ?, ?)";
  for (const { text: words, by, createdAt } of notes) {
    const named = by ?? "the command line";
    const author = named.endsWith(BROUGHT) ? named : `${named}${BROUGHT}`;
    yield* run(text(sql, newId("note", createdAt), id, words, author, createdAt));
  }
}

/** Characters that no text has; a line of a form ends with two of them. */
const UNFIT = /[^\P{Cc}\n\t]|\uFEFF/gu;

/** The text of a note as it is stored; it may be empty. */
export function cleanNote(words: string): string {
  return words.toWellFormed().replaceAll(/\r\n?/g, "\n").replaceAll(UNFIT, "").trim();
}
