import type { AnyOperation } from "../../operations/operation.ts";

interface Issue {
  readonly code?: string | undefined;
  readonly input?: unknown;
  /** The issues of each member of a union. */
  readonly errors?: readonly (readonly Issue[])[];
}

/**
 * Whether the value has what the operation answers. A server of another version may say more, and in words that are not known here; what
 * lacks a member, or has another type, is no answer to the question.
 */
export function isAnswerOf({ output }: Pick<AnyOperation, "output">, value: unknown): boolean {
  const read = output.safeParse(value, { reportInput: true });
  return read.success || !read.error.issues.some((issue) => isWrong(issue));
}

function isWrong({ code, input, errors = [] }: Issue): boolean {
  if (code === "invalid_type") return true;
  // A word that is not known here is one all the same.
  if (code === "invalid_value") return input === undefined || typeof input === "object";
  return errors.length > 0 && errors.every((issues) => issues.some(isWrong));
}
