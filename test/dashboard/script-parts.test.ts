import { expect, test } from "vitest";
import { distance, waitingTime } from "../../src/browser/dashboard/distance.ts";
import { commandKey, type Focus, type KeyPress } from "../../src/browser/dashboard/key-meaning.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../src/foundation/time-units.ts";

test("a distance from now has the unit that a person would choose", () => {
  const cases: [ms: number, shown: string | null][] = [
    [-MINUTE_MS - 1, null],
    [-MINUTE_MS, "just now"],
    [0, "just now"],
    [MINUTE_MS - 1, "just now"],
    [MINUTE_MS, "1 min"],
    [HOUR_MS - 1, "59 min"],
    [HOUR_MS, "1 h"],
    [DAY_MS - 1, "23 h"],
    [DAY_MS, "1 d"],
    [7 * DAY_MS - 1, "6 d"],
    [7 * DAY_MS, null],
  ];
  for (const [ms, shown] of cases) expect(distance(ms), String(ms)).toBe(shown);
});

test("what is still to come is told as the time until then, also when it is late", () => {
  const cases: [ms: number, shown: string | null][] = [
    [-HOUR_MS, "any moment"],
    [MINUTE_MS - 1, "any moment"],
    [MINUTE_MS, "in 1 min"],
    [HOUR_MS, "in 1 h"],
    [DAY_MS - 1, "in 23 h"],
    [DAY_MS, null],
  ];
  for (const [ms, shown] of cases) expect(waitingTime(ms), String(ms)).toBe(shown);
});

test("a key is a command unless somebody types, or it belongs to the browser", () => {
  const plain: KeyPress = {
    key: "s",
    ctrlKey: false,
    altKey: false,
    metaKey: false,
    isComposing: false,
    defaultPrevented: false,
  };
  const link: Focus = { tagName: "A" };
  expect(commandKey(plain, link)).toBe("s");
  expect(commandKey(plain, { tagName: "INPUT", type: "checkbox" })).toBe("s");
  for (const name of ["ctrlKey", "altKey", "metaKey", "isComposing", "defaultPrevented"])
    expect(commandKey({ ...plain, [name]: true }, link), name).toBeNull();
  const typing: Focus[] = [
    { tagName: "INPUT" },
    { tagName: "INPUT", type: "search" },
    { tagName: "TEXTAREA" },
    { tagName: "SELECT" },
    { tagName: "DIV", isContentEditable: true },
  ];
  for (const focus of typing) expect(commandKey(plain, focus), focus.tagName).toBeNull();
});
