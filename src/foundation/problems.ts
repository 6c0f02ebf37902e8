import type { z } from "zod";

/** One thing that is wrong with a value from outside. */
export interface Problem {
  /** Members from the outermost inwards; empty for the value as a whole. */
  readonly path: readonly string[];
  readonly message: string;
  /** Whether it is a member that nothing knows, which the path then names. */
  readonly isUnknown: boolean;
  /** The type that was expected; null unless the value is of another. */
  readonly expected: string | null;
}

/** What Zod found, in its order; each member that is not known is a problem of its own. */
export function problemsOf({ issues }: z.ZodError): readonly Problem[] {
  return issues.flatMap((issue): Problem[] => {
    const path = issue.path.map(String);
    if (issue.code === "unrecognized_keys") {
      return issue.keys.map((key) => ({
        path: [...path, key],
        message: `Unrecognized key: ${JSON.stringify(key)}`,
        isUnknown: true,
        expected: null,
      }));
    }
    const expected = issue.code === "invalid_type" ? issue.expected : null;
    return [{ path, message: issue.message, isUnknown: false, expected }];
  });
}

/** The first problem in one line: `spam_reasons.0.points: …`. */
export function describeFirstProblem(error: z.ZodError): string {
  const [first] = problemsOf(error);
  return first === undefined ? "" : `${first.path.join(".")}: ${first.message}`;
}
