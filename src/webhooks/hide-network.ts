/** Outcomes that show which names and addresses there are in the network of this server. */
const REVEALING: ReadonlySet<string> = new Set([
  "address_not_allowed",
  "name_not_found",
  "name_lookup_failed",
]);

/** What others than operators see of all of them: which one it was is nobody else's business. */
export const NOT_SENT_THERE =
  "Nothing is sent there: the name does not exist, or this server may not send to its address.";

interface ShownAttempt {
  readonly outcome: string;
  readonly message: string | null;
  readonly durationMs: number;
}

/** An attempt as this viewer sees it. A name that exists is found faster or slower than one that does not, so the time goes too. */
export function hideNetwork<T extends ShownAttempt>(attempt: T, isOperator: boolean): T {
  if (isOperator || !REVEALING.has(attempt.outcome)) return attempt;
  return { ...attempt, outcome: "not_sent", message: NOT_SENT_THERE, durationMs: 0 };
}
