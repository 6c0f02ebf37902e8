import type { Result } from "./client-api.ts";
import { prove } from "./prove.ts";

/** Sent in place of a proof. A server refuses the post then, if its form needs a proof. */
const ASK = "ask";
/** The addresses of tasks that turned out to be needed since the page was loaded. */
const known = new Set<string>();

/** One post, which may be sent several times. */
export interface PostAttempt {
  /** The proof of work, or {@link ASK}. */
  proof?: string;
}

/**
 * Sends a post with the proof of work that its form needs. If the page does not say that it needs one, the post is first sent without, and
 * again with a proof if the server asks for it.
 *
 * @param task the address of the task; empty if the form can have none
 * @param isNamed whether the page says that the form has a task
 */
export async function sendProved(
  attempt: PostAttempt,
  task: string,
  isNamed: boolean,
  post: () => Promise<Result>,
): Promise<Result> {
  if (task) attempt.proof ??= isNamed || known.has(task) ? await prove(task) : ASK;
  const result = await post();
  if (result.ok || attempt.proof !== ASK || result.error !== "Challenge required") return result;
  known.add(task);
  attempt.proof = await prove(task);
  return post();
}
