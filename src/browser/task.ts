import type { Result } from "./client-api.ts";
import { prove } from "./prove.ts";

/** In place of a proof, it has the server refuse a post that needs one. */
const ASK = "ask";
/** Addresses of tasks that were asked for since the page was loaded. */
const known = new Set<string>();

/** One post, which may be sent several times. */
export interface PostAttempt {
  /** What is sent as the proof of work. */
  proof?: string;
}

/**
 * Sends a post with the proof of work that its form asks for; again, if the page did not know that it does.
 *
 * @param task its address; empty if there can be none. @param isNamed whether the page says that there is one
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
