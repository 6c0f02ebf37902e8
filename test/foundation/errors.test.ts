import { expect, test } from "vitest";
import { describeError, ERROR_TABLE, type ErrorCode, FormsvcError } from "../../src/foundation/errors.ts";

const codes = Object.keys(ERROR_TABLE) as ErrorCode[];

test.each(codes)("%s has a status, a title, an exit code from 0 to 5 and a sentence", (code) => {
  const { status, error, exitCode, sentence } = describeError(code);
  expect(status).toBeGreaterThanOrEqual(400);
  expect(status).toBeLessThan(600);
  expect(error).toMatch(/^[A-Z][A-Za-z ]+$/);
  expect([1, 2, 3, 4, 5]).toContain(exitCode);
  expect(sentence).toMatch(/^[A-Z].*\.$/);
  expect(new FormsvcError(code).message).toBe(sentence);
});

test("one status and title belong together, so that a client may go by either", () => {
  const statuses = new Map<string, Set<number>>();
  for (const code of codes) {
    const { status, error } = describeError(code);
    statuses.set(error, (statuses.get(error) ?? new Set()).add(status));
  }
  expect([...statuses.values()].filter((found) => found.size !== 1)).toEqual([]);
});

test("an error keeps what caused it, its details and its own message", () => {
  const cause = new Error("below");
  const error = new FormsvcError("conflict", "twice", { cause, details: { a: 1 } });
  expect([error.name, error.code, error.message, error.cause, error.facts.details]).toEqual([
    "FormsvcError",
    "conflict",
    "twice",
    cause,
    { a: 1 },
  ]);
});
