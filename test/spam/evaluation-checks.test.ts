import { expect, test } from "vitest";
import { type Check, checkTable, holds } from "../../scripts/spam/checks.ts";
import { readOwnTexts, shortTexts, unseenTexts, ownTexts } from "../../scripts/spam/texts.ts";

test("a check holds on its side of the bound and on the bound itself, and its row says so", () => {
  const found = (value: number): Check => ({ what: "found", value, bound: { atLeast: 0.75 } });
  const wronged = (value: number): Check => ({ what: "wronged", value, bound: { atMost: 2 }, unit: "texts" });
  expect([0.74, 0.75, 1].map((value) => holds(found(value)))).toEqual([false, true, true]);
  expect([3, 2, 0].map((value) => holds(wronged(value)))).toEqual([false, true, true]);
  expect(
    checkTable([found(0.74), wronged(0)])
      .split("\n")
      .slice(2),
  ).toEqual([
    "| found | 74.0 % | at least 75.0 % | **fails** |",
    "| wronged | 0 texts | at most 2 texts | holds |",
  ]);
});

test("short sentences of other people are all genuine, and neither they nor the unseen texts are trained with", () => {
  const short = readOwnTexts(shortTexts);
  expect(short.length).toBeGreaterThan(1300);
  expect(new Set(short.map(({ label }) => label))).toEqual(new Set(["ham"]));
  const trained = new Set(readOwnTexts(ownTexts).map(({ text }) => text));
  expect([...short, ...readOwnTexts(unseenTexts)].filter(({ text }) => trained.has(text))).toEqual([]);
});
