import { randomUUID } from "node:crypto";
import { BoundedMap } from "../../foundation/bounded-map.ts";
import { html, type Html } from "../../foundation/html.ts";
import type { Answer } from "../answer.ts";
import type { Viewer } from "../../sessions/session.ts";

/**
 * Answers that show a secret cannot be redirects, so a browser would send their form again when the page is reloaded. Each such form
 * has a mark, and acts once.
 */
export interface Once {
  /**
   * Runs `work` on the first form with this mark; if it throws or refuses, the form may come again. A second one that comes while
   * the first runs, like a double click, gets the same answer; one that comes later gets `repeated`.
   */
  run(visit: MarkedVisit, work: () => Promise<Answer>, repeated: () => Answer): Promise<Answer>;
}

interface MarkedVisit {
  readonly viewer: Viewer;
  readonly form: URLSearchParams;
}

const INPUT = "form_mark";
/** Marks that are remembered; the oldest are forgotten. */
const MAX_MARKS = 1000;

/** @param isDone whether an answer shows that the form acted. */
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

/** The mark of a form, hidden in it. @param form a form that is shown again keeps its mark. */
export function onceInput(form?: URLSearchParams): Html {
  return html`<input type="hidden" name="${INPUT}" value="${form?.get(INPUT) ?? randomUUID()}" />`;
}
