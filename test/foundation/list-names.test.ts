import { expect, test } from "vitest";
import { listNames } from "../../src/foundation/list-names.ts";

test("the first names are named, and the others are counted", () => {
  expect(listNames([], 2)).toBe("");
  expect(listNames(["a", "b"], 2)).toBe("a, b");
  expect(listNames(["a", "b", "c", "d"], 2)).toBe("a, b and 2 more");
});

test("only what is shown is turned into a name", () => {
  const asked: string[] = [];
  const nameOf = (item: string): string => `${asked.push(item)}`;
  expect(listNames(["a", "b", "c"], 1, nameOf)).toBe("1 and 2 more");
  expect(asked).toEqual(["a"]);
});
