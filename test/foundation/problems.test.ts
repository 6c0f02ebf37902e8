import { expect, test } from "vitest";
import { z } from "zod";
import { describeFirstProblem, problemsOf } from "../../src/foundation/problems.ts";

const schema = z.strictObject({ name: z.string(), inner: z.strictObject({ count: z.int() }).optional() });

function refusalOf(value: unknown): z.ZodError {
  const { error } = schema.safeParse(value);
  if (error === undefined) throw new Error("nothing was refused");
  return error;
}

test("each wrong value is a problem with its path, and each member that is not known one of its own", () => {
  const found = problemsOf(refusalOf({ name: 7, inner: { count: 1, b: 2, c: 3 }, a: 1 }));
  expect(found.map(({ path, isUnknown, expected }) => [path.join("."), isUnknown, expected])).toEqual([
    ["name", false, "string"],
    ["inner.b", true, null],
    ["inner.c", true, null],
    ["a", true, null],
  ]);
  expect(found.at(-1)?.message).toBe('Unrecognized key: "a"');
});

test("the first problem is one line", () => {
  expect(describeFirstProblem(refusalOf({ name: "x", inner: { count: 0.5 } }))).toMatch(/^inner\.count: /);
  expect(describeFirstProblem(refusalOf(null))).toMatch(/^: /);
});
