/** Outcomes that reveal which names and addresses exist in the network of this server. */
const REVEALING: ReadonlySet<string> = new Set([
  "address_not_allowed",
  "name_not_found",
  "name_lookup_failed",
]);

/** The one message that everybody but operators gets for all of these outcomes. */
export const NOT_SENT_THERE =
  "Nothing is sent there: the name does not exist, or this server may not send to its address.";

interface ShownAttempt {
  readonly outcome: string;
  readonly message: string | null;
  readonly durationMs: number;
}

/**
 * An attempt as the account may see it. Its duration is hidden too, because an existing name is not found in the same time as one that does
 * not exist.
 */
export function hideNetwork<T extends ShownAttempt>(attempt: T, isOperator: boolean): T {
  if (isOperator || !REVEALING.has(attempt.outcome)) return attempt;
  return { ...attempt, outcome: "not_sent", message: NOT_SENT_THERE, durationMs: 0 };
}
