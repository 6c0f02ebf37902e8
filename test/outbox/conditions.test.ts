import { expect, test } from "vitest";
import {
  checkConditions,
  conditionText,
  MAX_CONDITIONS,
  parseCondition,
  parseConditions,
  sentText,
  unmetBy,
  writeConditions,
} from "../../src/outbox/queue/conditions.ts";

const FIELDS = { topic: {}, budget: {}, plz: {}, "a=b": {} };

/** Whether all of these hold for what was sent. */
function holds(data: Record<string, unknown>, ...written: string[]): boolean {
  const stored = writeConditions(checkConditions(parseConditions(written), FIELDS));
  return stored === null || unmetBy({ data, fields: FIELDS })(stored) === null;
}

test("each operator holds for what it names, and a field that was not sent meets only != and !FIELD", () => {
  expect(holds({ topic: "SALES" }, "topic=sales")).toBe(true);
  expect(holds({ topic: "Support" }, "topic=sales")).toBe(false);
  expect(holds({ topic: "Support" }, "topic!=sales")).toBe(true);
  expect(holds({ topic: "We need SALES now" }, "topic~sales")).toBe(true);
  expect(holds({ budget: 1001 }, "budget>1000")).toBe(true);
  expect(holds({ budget: "1001.5" }, "budget>1000")).toBe(true);
  expect(holds({ budget: 1000 }, "budget>1000")).toBe(false);
  expect(holds({ budget: "-3" }, "budget<0")).toBe(true);
  expect(holds({ budget: "some" }, "budget>1000")).toBe(false);
  expect(holds({ budget: [2000] }, "budget>1000")).toBe(false);
  expect(holds({ topic: "x" }, "topic")).toBe(true);
  expect(holds({ topic: "x" }, "!topic")).toBe(false);
  for (const met of ["topic!=sales", "!topic"]) expect(holds({}, met), met).toBe(true);
  for (const unmet of ["topic=sales", "topic=", "topic~s", "topic~", "topic>1", "topic<1", "topic"])
    expect(holds({}, unmet), unmet).toBe(false);
});

test("0 and false are filled; blank texts, empty lists and groups are not", () => {
  for (const filled of [0, false, "0", ["x"], { city: "Ulm" }])
    expect(holds({ topic: filled }, "topic"), JSON.stringify(filled)).toBe(true);
  for (const empty of ["", " \n", [], {}, null])
    expect(holds({ topic: empty }, "!topic"), JSON.stringify(empty)).toBe(true);
});

test("a number equals a text that reads as it, and two texts are compared as texts", () => {
  expect(holds({ budget: 1000 }, "budget=1000.0")).toBe(true);
  expect(holds({ budget: 0.5 }, "budget=.5")).toBe(true);
  expect(holds({ plz: "01067" }, "plz=1067")).toBe(false);
  expect(holds({ plz: "01067" }, "plz=01067")).toBe(true);
  expect(holds({ topic: true }, "topic=TRUE")).toBe(true);
});

test("a list meets = and ~ if one of its items does, and != if none does", () => {
  const data = { topic: ["Bread", "Cakes"] };
  expect(holds(data, "topic=cakes")).toBe(true);
  expect(holds(data, "topic~cake")).toBe(true);
  expect(holds(data, "topic=pies")).toBe(false);
  expect(holds(data, "topic!=cakes")).toBe(false);
  expect(holds(data, "topic!=pies")).toBe(true);
  expect(holds({ topic: { city: "cakes" } }, "topic=cakes")).toBe(false);
  expect(holds({ topic: [7, { city: "x" }] }, "topic=7.0")).toBe(true);
  expect(holds({ topic: ["7.0"] }, "topic=7")).toBe(false);
  // Nothing is found across two items, and an empty text is in each text.
  expect(holds({ topic: ["ab", "cd"] }, "topic~bc")).toBe(false);
  expect(holds({ topic: [{}] }, "topic~")).toBe(false);
  expect(holds({ topic: [""] }, "topic~")).toBe(true);
});

test("a huge list is read once in all for 100 recipients with 10 conditions each: nobody holds the server up by one post", () => {
  let reads = 0;
  const items = Array.from({ length: 32_000 }, (_, index) => index % 10);
  const topic = new Proxy(items, {
    get: (list, name) => {
      reads += 1;
      return Reflect.get(list, name) as unknown;
    },
  });
  const stored = Array.from({ length: 100 }, (_, recipient) => {
    const unequal = Array.from({ length: 6 }, (_item, index) => `topic!=${recipient} or ${index}`);
    const written = [...unequal, `topic!=${recipient + 10}`, "topic", "topic~9", "topic=8"];
    return writeConditions(checkConditions(parseConditions(written), FIELDS)) ?? "";
  });
  const find = unmetBy({ data: { topic }, fields: FIELDS });
  expect(stored.map(find)).toEqual(Array<null>(100).fill(null));
  // Its length and its items, a few times; it was 32 million.
  expect(reads).toBeLessThan(4 * items.length);
});

test("all of them must hold, and the first that does not is told", () => {
  const stored = writeConditions(checkConditions(parseConditions(["topic=sales", "budget>10"]), FIELDS));
  const unmet = (data: Record<string, unknown>): unknown =>
    JSON.parse(unmetBy({ data, fields: FIELDS })(stored ?? "") ?? "null");
  expect(unmet({ topic: "sales", budget: 11 })).toBeNull();
  expect(unmet({ topic: "sales", budget: 9 })).toEqual({ field: "budget", is: ">", value: "10" });
  expect(unmet({})).toEqual({ field: "topic", is: "=", value: "sales" });
});

test("a condition on a field that the form has not any more counts as met", () => {
  const stored = writeConditions([{ field: "gone", is: "=", value: "x" }]) ?? "";
  expect(unmetBy({ data: {}, fields: FIELDS })(stored)).toBeNull();
  expect(unmetBy({ data: {}, fields: { ...FIELDS, gone: {} } })(stored)).not.toBeNull();
});

test("the first operator after the name splits, and what is written reads the same again", () => {
  expect(parseCondition("topic=a>b")).toEqual({ field: "topic", is: "=", value: "a>b" });
  expect(parseCondition("topic != sales ")).toEqual({ field: "topic", is: "!=", value: "sales" });
  expect(parseCondition("topic=")).toEqual({ field: "topic", is: "=", value: "" });
  for (const text of ["topic=sales", "topic!=a=b", "budget>1", "budget<1", "topic~x", "topic", "!topic"])
    expect(conditionText(parseCondition(text))).toBe(text);
  for (const wrong of ["", " ", "!", "=x", "~"]) expect(() => parseCondition(wrong), wrong).toThrow("FIELD");
  expect(parseConditions([""])).toEqual([]);
  expect(() => parseConditions(["", "topic"])).toThrow("not both");
});

test("unknown fields, values that are no numbers, too many and too long ones are refused", () => {
  const check = (...written: string[]) => checkConditions(parseConditions(written), FIELDS);
  expect(() => check("gone=x")).toThrow("no field gone");
  expect(() => check("constructor")).toThrow("no field constructor");
  expect(() => check("budget>much")).toThrow("a number is expected");
  expect(() => check(...Array<string>(MAX_CONDITIONS + 1).fill("topic"))).toThrow("10 are allowed");
  expect(() => check(`topic=${"x".repeat(501)}`)).toThrow("500");
  // A name with an operator's sign can be given as JSON alone.
  expect(checkConditions([{ field: "a=b", is: "filled", value: "left over" }], FIELDS)).toEqual([
    { field: "a=b", is: "filled", value: "" },
  ]);
});

test("what was sent is told in one short line, and a group is not spelt out", () => {
  expect(sentText(["Bread", 2], 60)).toBe("Bread, 2");
  expect(sentText("x".repeat(100), 10)).toBe(`${"x".repeat(9)}…`);
  expect(sentText("\u{1f600}".repeat(10), 10)).toBe(`${"\u{1f600}".repeat(4)}…`);
  expect(sentText({ city: "Ulm" }, 60)).toBeNull();
  for (const empty of [undefined, null, " ", []]) expect(sentText(empty, 60)).toBe("");
});
