import type { z } from "zod";

/** A problem of a value from outside. */
export interface Problem {
  /** Names of members, the outermost first; empty for the value as a whole. */
  readonly path: readonly string[];
  readonly message: string;
  /** Whether the path names a member that the schema does not know. */
  readonly isUnknown: boolean;
  /** The expected type if the value has another one, else null. */
  readonly expected: string | null;
}

/** The problems that Zod found, in its order. Each unknown member is a problem of its own. */
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
