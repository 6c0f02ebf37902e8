import { setTimeout as sleep } from "node:timers/promises";
import { FormsvcError } from "../../foundation/errors.ts";
import type { Output } from "../output/output.ts";

/** The longest time that is waited for the next window of a server's limit, in seconds. A longer one is the user's to wait for. */
const MAX_WAIT_SECONDS = 120;
/** How often one request is repeated. Others with tokens of the same account may take the whole of a window. */
const MAX_WAITS = 5;

/**
 * Asks again when the server has had too many requests of this account and says when to come back. It refuses such a request before it does
 * anything, so that nothing is done twice.
 *
 * @throws the error of the request, which is rate_limited if the wait would be too long or too many came before
 */
export async function waitForLimit<Answer>(
  output: Pick<Output, "note">,
  ask: () => Promise<Answer>,
): Promise<Answer> {
  for (let waits = 0; ; waits += 1) {
    try {
      return await ask();
    } catch (error) {
      const seconds = waits < MAX_WAITS ? secondsToWait(error) : null;
      if (seconds === null) throw error;
      output.note(`the server takes no more requests for now; going on in ${seconds} s`);
      await sleep(seconds * 1000);
    }
  }
}

/** Null for an error that waiting does not help, or not soon. */
function secondsToWait(error: unknown): number | null {
  if (!(error instanceof FormsvcError) || error.code !== "rate_limited") return null;
  const { retryAfterSeconds: seconds } = error.facts;
  return seconds !== undefined && seconds <= MAX_WAIT_SECONDS ? seconds : null;
}
