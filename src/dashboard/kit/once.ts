import { randomUUID } from "node:crypto";
import { BoundedMap } from "../../foundation/bounded-map.ts";
import { html, type Html } from "../../foundation/html.ts";
import type { Answer } from "../answer.ts";
import type { Viewer } from "../../sessions/session.ts";

/**
 * Makes a form act only once. An answer that shows a secret cannot be a redirect, so a browser would send the form again when the page is
 * reloaded. Each such form has a random mark.
 */
export interface Once {
  /**
   * Runs `work` for the first form with this mark. If it throws or refuses, the form may be sent again. A second form that comes while the
   * first runs, like a double click, gets the same answer. A later one gets `repeated`.
   */
  run(visit: MarkedVisit, work: () => Promise<Answer>, repeated: () => Answer): Promise<Answer>;
}

interface MarkedVisit {
  readonly viewer: Viewer;
  readonly form: URLSearchParams;
}

const INPUT = "form_mark";
/** The largest number of marks in memory. A further one drops the oldest. */
const MAX_MARKS = 1000;

/** @param isDone whether an answer shows that the form has acted */
export function createOnce(isDone: (answer: Answer) => boolean): Once {
  const marks = new BoundedMap<string, Promise<Answer> | "done">(MAX_MARKS);
  return {
    async run({ viewer, form }, work, repeated) {
      const mark = `${viewer.sessionId} ${(form.get(INPUT) ?? randomUUID()).slice(0, 100)}`;
      const before = marks.get(mark);
      if (before !== undefined) return before === "done" ? repeated() : before;
      const answer = work();
      marks.set(mark, answer);
      try {
        if (isDone(await answer)) marks.set(mark, "done");
        else marks.delete(mark);
      } catch (error) {
        marks.delete(mark);
        throw error;
      }
      return answer;
    },
  };
}

/** A hidden input with the mark of a form. @param form the form that is shown again, which keeps its mark */
export function onceInput(form?: URLSearchParams): Html {
  return html`<input type="hidden" name="${INPUT}" value="${form?.get(INPUT) ?? randomUUID()}" />`;
}
