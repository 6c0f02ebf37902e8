import { expect, test } from "vitest";
import { compileSchema, type UnknownFields } from "../../src/schemas/compile-schema.ts";
import { parseDefinition } from "../../src/schemas/definition.ts";
import { MAX_SET_ASIDE_BYTES, type SetAside } from "../../src/schemas/set-aside.ts";

const definition = parseDefinition({
  name: { type: "string", required: true },
  person: { type: "object", properties: { first: { type: "string" } } },
  list: { type: "array", items: { type: "object", properties: { a: { type: "number" } } } },
  anything: { type: "object" },
  tags: { type: "array" },
});

function check(body: Record<string, unknown>, mode: UnknownFields = "set-aside") {
  const result = compileSchema(definition, mode).validate({ name: "Ada", ...body });
  if (!result.ok) throw new Error(JSON.stringify(result.details));
  return result;
}

function setAside(body: Record<string, unknown>): SetAside | null {
  return check(body).setAside;
}

test("a member that is not declared is set aside and is not in the data", () => {
  const { data, setAside: aside } = check({ allergies: "peanuts" });
  expect(data).toEqual({ name: "Ada" });
  expect(aside).toEqual({ fields: { allergies: "peanuts" }, dropped: 0 });
});

test("nothing is set aside of a body that is declared as a whole, whatever its free objects and lists hold", () => {
  expect(
    setAside({ person: { first: "A" }, list: [{ a: 1 }], anything: { x: { y: 1 } }, tags: [{ z: 1 }] }),
  ).toBe(null);
});

test.each(["drop", "keep"] as const)("nothing is set aside with %s", (mode) => {
  expect(check({ allergies: "peanuts" }, mode).setAside).toBe(null);
});

test("paths are those of details, in the order in which the values came", () => {
  const body = {
    z: true,
    person: { age: 3, first: "A", pet: { kind: "cat", names: ["Tom", "Kit"] } },
    list: [{ a: 1, b: 2 }, { b: null }],
    a: { deep: [{ x: 1.5 }, [], {}] },
  };
  const found = setAside(body);
  expect(Object.entries(found?.fields ?? {})).toEqual([
    ["z", true],
    ["person.age", 3],
    ["person.pet.kind", "cat"],
    ["person.pet.names.0", "Tom"],
    ["person.pet.names.1", "Kit"],
    ["list.0.b", 2],
    ["list.1.b", null],
    ["a.deep.0.x", 1.5],
    ["a.deep.1", []],
    ["a.deep.2", {}],
  ]);
  expect(found?.dropped).toBe(0);
});

test("the fifty-first value and all after it are counted instead of kept", () => {
  const many = Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`f${index}`, index]));
  const found = setAside(many);
  expect(Object.keys(found?.fields ?? {})).toEqual(Object.keys(many).slice(0, 50));
  expect(found?.dropped).toBe(10);
});

test("a value that does not fit whole is counted, and a later one that fits is kept", () => {
  const found = setAside({ essay: "x".repeat(5000), short: "kept" });
  expect(found).toEqual({ fields: { short: "kept" }, dropped: 1 });
});

test.each([
  ["ASCII", "x"],
  ["two bytes a letter", "ä"],
  ["an emoji", "🙂"],
  ["what JSON writes as an escape", "\u0001"],
  ["a quote", '"'],
])("the JSON takes 4096 bytes at most, and exactly 4096 are taken: %s", (_, unit) => {
  const unitBytes = Buffer.byteLength(JSON.stringify(unit)) - 2;
  // {"first":1,"é":"…"}
  const around = Buffer.byteLength(JSON.stringify({ first: 1, é: "" }));
  const units = Math.floor((MAX_SET_ASIDE_BYTES - around) / unitBytes);
  const rest = "x".repeat(MAX_SET_ASIDE_BYTES - around - units * unitBytes);
  const fitting = { first: 1, é: rest + unit.repeat(units) };
  expect(setAside(fitting)).toEqual({ fields: fitting, dropped: 0 });
  expect(Buffer.byteLength(JSON.stringify(fitting))).toBe(4096);
  expect(setAside({ ...fitting, é: `${fitting.é}x` })).toEqual({ fields: { first: 1 }, dropped: 1 });
});

test("of two values with one path the first is kept and the other one counted", () => {
  expect(setAside({ person: { age: 1 }, "person.age": 2 })).toEqual({
    fields: { "person.age": 1 },
    dropped: 1,
  });
});

test("__proto__ is not set aside at any depth, and names of every object's members are", () => {
  const body = JSON.parse('{"__proto__":{"a":1},"x":{"__proto__":1,"constructor":2},"toString":3}') as object;
  const found = setAside({ ...body });
  expect(Object.entries(found?.fields ?? {})).toEqual([
    ["x.constructor", 2],
    ["toString", 3],
  ]);
  expect(Object.getPrototypeOf(found?.fields)).toBe(Object.prototype);
});

test.each<[string, Record<string, unknown>]>([
  ["a nesting of 20,000 levels", { x: nested(20_000) }],
  ["a name of 30,000 letters above 15,000 values", { ["n".repeat(30_000)]: Array(15_000).fill(0) }],
  ["a name that grows in JSON above 28,000 values", { ["\u0001".repeat(1000)]: Array(28_000).fill(0) }],
  [
    "30 names inside each other above 10,000 values",
    { x: inside(30, "m".repeat(100), Array(10_000).fill("")) },
  ],
  ["13,000 names", Object.fromEntries(Array.from({ length: 13_000 }, (_, index) => [`k${index}`, 0]))],
  ["16,000 texts that have no room", { x: Array(16_000).fill("\u0001\u0001") }],
])("%s are read in a moment and stay within the bounds", (_, body) => {
  const before = process.cpuUsage();
  const found = setAside(body);
  // A walk that is not linear takes many seconds; processor time does not count what other programs take.
  expect(process.cpuUsage(before).user).toBeLessThan(3_000_000);
  expect(Object.keys(found?.fields ?? {}).length).toBeLessThanOrEqual(50);
  expect(Buffer.byteLength(JSON.stringify(found?.fields))).toBeLessThanOrEqual(MAX_SET_ASIDE_BYTES);
  expect(found?.dropped).toBeGreaterThan(0);
});

function nested(levels: number): unknown {
  let value: unknown = "bottom";
  for (let level = 0; level < levels; level += 1) value = { a: value };
  return value;
}

function inside(levels: number, name: string, bottom: unknown): unknown {
  let value = bottom;
  for (let level = 0; level < levels; level += 1) value = { [name]: value };
  return value;
}
