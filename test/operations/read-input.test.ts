import { describe, expect, test } from "vitest";
import { z } from "zod";
import { FormsvcError } from "../../src/foundation/errors.ts";
import { readInput } from "../../src/operations/read-input.ts";

const row = z.strictObject({ field: z.string(), is: z.enum(["=", "!="]), value: z.string() });
const SHAPE = z.strictObject({
  name: z.string().optional(),
  rows: z.array(row).readonly().default([]),
  names: z.array(z.string()).min(1).max(2000).nullable().optional(),
  senders: z.strictObject({ emails: z.array(z.email()).optional() }).optional(),
});

/** The names of what is wrong. */
function wrongIn(input: unknown): readonly string[] {
  try {
    readInput(SHAPE, input);
  } catch (error) {
    if (error instanceof FormsvcError && error.code === "invalid_request")
      return Object.keys(error.facts.details ?? {});
    throw error;
  }
  return [];
}

const many = (length: number, item: (index: number) => unknown): unknown[] =>
  Array.from({ length }, (_, index) => item(index));

describe("the first wrong items of a long list are named by their places,", () => {
  test.each<{ what: string; input: object; named: readonly string[] }>([
    {
      what: "whatever comes before and after them",
      input: { rows: many(500, (index) => (index === 250 ? {} : { field: "a", is: "=", value: "b" })) },
      named: ["rows.250.field", "rows.250.is", "rows.250.value"],
    },
    {
      what: "in a list that may be absent",
      input: { names: many(500, (at) => (at < 499 ? "a" : 1)) },
      named: ["names.499"],
    },
    {
      what: "in a list inside of a member",
      input: { senders: { emails: many(300, (at) => (at === 299 ? "x" : "a@example.org")) } },
      named: ["senders.emails.299"],
    },
    { what: "or the list, if it is too long", input: { names: many(2001, () => "a") }, named: ["names"] },
    { what: "or nothing, if all fits", input: { names: many(2000, () => "a"), senders: {} }, named: [] },
  ])("$what", ({ input, named }) => {
    expect(wrongIn(input)).toEqual(named);
  });
});

test("a list of wrong items that is as long as a body may be is refused in no time", () => {
  const input = { rows: many(80_000, () => ({})) };
  const before = process.cpuUsage();
  expect(wrongIn(input)).toHaveLength(10);
  expect(process.cpuUsage(before).user).toBeLessThan(150_000);
});
