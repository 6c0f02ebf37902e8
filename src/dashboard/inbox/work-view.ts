import { html, type Html } from "../../foundation/html.ts";
import { plainLines } from "../../foundation/plain-text.ts";
import {
  MAX_NOTES,
  type Note,
  type StoredSubmission,
  type SubmissionWork,
} from "../../submissions/stored/submission-work.ts";
import type { Assignee } from "../../workspaces/assignee.ts";
import { onceInput } from "../kit/once.ts";
import { time } from "../kit/time.ts";

/** Views of people's work on a submission: its assignee, its state, and its notes. */

/** The assignee and the state, for a row of a list; nothing if neither was set. */
export function workMarks({ state, assignee }: SubmissionWork, accountId: string): Html {
  return html`${state === "done" && html` <span class="pill done">done</span>`}${assignee !== null && face(assignee, accountId)}`;
}

function face({ id, email }: Assignee, accountId: string): Html {
  const name = id === accountId ? "you" : email;
  return html` <span class="face" role="img" aria-label="Assigned to ${name}" title="Assigned to ${name}">${initialsOf(email)}</span>`;
}

/** Two letters for an address: the initials of its first two words, else its first two letters. */
function initialsOf(email: string): string {
  const words = (email.split("@", 1)[0] ?? "").split(/[^\p{L}\p{N}]+/u).filter((word) => word !== "");
  const [first = ["?"], second = null] = words.map((word) => Array.from(word));
  const letters = second === null ? first.slice(0, 2) : [...first.slice(0, 1), ...second.slice(0, 1)];
  return letters.join("").toUpperCase();
}

/** A select with the accounts that can be assigned. @param chosen an id; empty means nobody */
export function assigneeSelect(
  assignees: readonly Assignee[],
  { chosen, accountId }: { readonly chosen: Assignee | null; readonly accountId: string },
): Html {
  const isListed = chosen === null || assignees.some(({ id }) => id === chosen.id);
  const all = isListed ? assignees : [...assignees, chosen];
  return html`<select id="assignee" name="assignee" data-key="a">
    <option value="none">Nobody</option>
    ${all.map(
      ({ id, email }) =>
        html`<option value="${id}" ${id === chosen?.id && html` selected`}>${email}${id === accountId && " (you)"}</option>`,
    )}
  </select>`;
}

export interface AssigneeCardParts {
  readonly submission: StoredSubmission;
  readonly assignees: readonly Assignee[];
  readonly accountId: string;
  /** The address that the form is sent to. */
  readonly action: string;
}

/** The assignee, for viewers who may not change it; null if there is none. */
export function assigneeShown({ assignee }: SubmissionWork, accountId: string): Html | null {
  if (assignee === null) return null;
  return html`<section class="card">
    <header><h2>Who does it</h2></header>
    <p class="in"><bdi>${assignee.email}</bdi>${assignee.id === accountId && " (you)"}</p>
  </section>`;
}

export function assigneeCard({ submission, assignees, accountId, action }: AssigneeCardParts): Html {
  const { id, assignee } = submission;
  return html`<section class="card">
    <header><h2>Who does it</h2></header>
    <form class="in" method="post" action="${action}">
      <input type="hidden" name="id" value="${id}" />
      <div class="field">
        <label for="assignee">Assigned to <kbd>a</kbd></label>
        <span class="inline">${assigneeSelect(assignees, { chosen: assignee, accountId })}<button name="do" value="assign">Save</button></span>
      </div>
    </form>
  </section>`;
}

export interface NotesCardParts {
  readonly notes: readonly Note[];
  /** The address of the viewer. */
  readonly email: string;
  /** The address that a note is sent to; null if no note can be added. */
  readonly action: string | null;
  /** The note that was refused, with the reason; null if none was. */
  readonly refused: { readonly text: string; readonly problem: string } | null;
}

export function notesCard({ notes, email, action, refused }: NotesCardParts): Html {
  const invalid = refused !== null && html` aria-invalid="true"`;
  return html`<section class="card">
    <header><h2>Notes</h2>${notes.length > 0 && html`<span class="muted">${notes.length}</span>`}</header>
    ${
      notes.length > 0 &&
      html`<ul class="notes">
        ${notes.map((note) => noteView(note, email))}
      </ul>`
    }
    ${
      action !== null && notes.length < MAX_NOTES
        ? html`<form class="in" method="post" action="${action}" data-unsaved>
            ${onceInput()}
            <div class="field">
              <label for="note">Add a note</label>
              <textarea id="note" name="text" rows="2" required dir="auto" aria-describedby="note-help"${invalid}>${"\n"}${refused?.text ?? ""}</textarea>
              <small id="note-help" class="muted">${refused === null ? "Who sees this form’s submissions sees it, visitors never." : html`<span class="bad">${refused.problem}</span>`}</small>
            </div>
            <div><button>Add</button></div>
          </form>`
        : action !== null && html`<p class="muted">It has ${MAX_NOTES} notes, and no room for more.</p>`
    }
  </section>`;
}

function noteView({ text, by, createdAt }: Note, email: string): Html {
  const who = by === null ? "Command line" : by === email ? "You" : by;
  return html`<li>
    <b><bdi>${who}</bdi></b> <small>${time(createdAt)}</small>
    <p dir="auto">${plainLines(text)}</p>
  </li>`;
}
