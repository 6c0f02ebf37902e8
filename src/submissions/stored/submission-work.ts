import { all, run, type Steps, text } from "../../database/steps.ts";
import { LIST, LISTED_IDS, listParameter } from "../../database/list-parameter.ts";
import { FormsvcError } from "../../foundation/errors.ts";
import { newId } from "../../foundation/id.ts";
import { type Assignee, readEmails } from "../../workspaces/assignee.ts";
import type { Submission } from "./submission.ts";

/*
 * The state, assignee and notes of submissions. They are not in the submission's own row: so a post writes no more than before, and a text
 * of 64 KiB is not written again when somebody ticks the submission off.
 */

export const WORK_STATES = ["open", "done"] as const;
export type WorkState = (typeof WORK_STATES)[number];

export interface Note {
  readonly id: string;
  readonly text: string;
  /** The e-mail address of the account or the name of the token, when the note was written; null means the command line. */
  readonly by: string | null;
  readonly createdAt: number;
}

export interface SubmissionWork {
  readonly state: WorkState;
  readonly assignee: Assignee | null;
  /** The notes, the oldest first. */
  readonly notes: readonly Note[];
  /** The time when the submission was put into the bin, in milliseconds; null if it is not there. */
  readonly deletedAt: number | null;
}

/** A submission with what people did about it. */
export type StoredSubmission = Submission & SubmissionWork;

/** The value for a submission that nobody has worked on. */
export const UNTOUCHED: SubmissionWork = { state: "open", assignee: null, notes: [], deletedAt: null };

/** The largest number of characters of a note, and of notes of a submission. */
export const MAX_NOTE_LENGTH = 2000;
export const MAX_NOTES = 100;

interface WorkRow {
  readonly id: string;
  readonly state: WorkState | null;
  readonly assignee_id: string | null;
  readonly deleted_at: number | null;
  readonly notes: number;
}

/** Finds only submissions that somebody has worked on, or that are in the bin. */
const TOUCHED_SQL = `SELECT * FROM (
  SELECT wanted.key AS id, work.state, work.assignee_id, bin.deleted_at,
    (SELECT count(*) FROM submission_note WHERE submission_id = wanted.key) AS notes
  FROM ${LIST} AS wanted
    LEFT JOIN submission_work AS work ON work.id = wanted.key
    LEFT JOIN submission_bin AS bin ON bin.id = wanted.key
  ) AS found WHERE state IS NOT NULL OR deleted_at IS NOT NULL OR notes > 0`;

const NOTES_SQL = `SELECT id, submission_id, text, author, created_at FROM submission_note
  WHERE submission_id IN ${LISTED_IDS} ORDER BY id`;

interface NoteRow {
  readonly id: string;
  readonly submission_id: string;
  readonly text: string;
  readonly author: string | null;
  readonly created_at: number;
}

/** Adds to each submission what people did about it. The order stays the same. */
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

const DONE_SQL = `SELECT id FROM submission_work WHERE state = 'done' AND id IN ${LISTED_IDS}`;

/** Returns the ids of those of these submissions that are done. */
export function* listDone(ids: readonly string[]): Steps<ReadonlySet<string>> {
  const rows = yield* all(text<{ id: string }>(DONE_SQL, listParameter(ids)));
  return new Set(rows.map(({ id }) => id));
}

/** The changes to make; undefined leaves a value as it is. */
export interface WorkChange {
  readonly state: WorkState | undefined;
  /** The id of an account; null means nobody. */
  readonly assigneeId: string | null | undefined;
}

/** Sets only what changes. So if two people set different things, both stay; if they set the same thing, the last one counts. */
export function* updateWork(ids: readonly string[], { state, assigneeId }: WorkChange): Steps<void> {
  const set = [
    ...(state === undefined ? [] : ["state = excluded.state"]),
    ...(assigneeId === undefined ? [] : ["assignee_id = excluded.assignee_id"]),
  ];
  const sql = `INSERT INTO submission_work (id, endpoint_number, state, assignee_id)
    SELECT id, endpoint_number, CAST(? AS text), CAST(? AS text) FROM submission
      WHERE id IN ${LISTED_IDS}
    ON CONFLICT (id) DO UPDATE SET ${set.join(", ")}`;
  yield* run(text(sql, state ?? "open", assigneeId ?? null, listParameter(ids)));
}

const COUNT_NOTES_SQL = "SELECT count(*) AS notes FROM submission_note WHERE submission_id = ?";

/** Adds a note. @param by see {@link Note}. @throws conflict if the submission has {@link MAX_NOTES} already */
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

/** A note in an export. */
export type BroughtNote = Pick<Note, "text" | "by" | "createdAt">;

/** Is appended to the author's name, because whoever imports an export could have changed it before. */
const BROUGHT = " (imported)";

/** Adds the notes of an export to an imported submission. They keep the names of their authors. */
export function* insertBroughtNotes(id: string, notes: readonly BroughtNote[]): Steps<void> {
  const sql =
    "INSERT INTO submission_note (id, submission_id, text, author, created_at) VALUES (?, ?, ?, ?, ?)";
  for (const { text: words, by, createdAt } of notes) {
    const named = by ?? "the command line";
    const author = named.endsWith(BROUGHT) ? named : `${named}${BROUGHT}`;
    yield* run(text(sql, newId("note", createdAt), id, words, author, createdAt));
  }
}

/** Characters that are removed from notes: control characters except line feed and tab, and U+FEFF. */
const UNFIT = /[^\P{Cc}\n\t]|\uFEFF/gu;

/** Cleans the text of a note for storage; the result may be empty. */
export function cleanNote(words: string): string {
  return words.toWellFormed().replaceAll(/\r\n?/g, "\n").replaceAll(UNFIT, "").trim();
}
