import * as fc from "fast-check";
import { expect, test } from "vitest";
import { parseDefinition } from "../../src/schemas/definition.ts";
import { coerceForm, type FormEntry } from "../../src/submissions/receive/coerce-form.ts";

const definition = parseDefinition({
  name: { type: "string" },
  age: { type: "number" },
  agree: { type: "boolean" },
  tags: { type: "array", items: { type: "string" } },
  counts: { type: "array", items: { type: "number" } },
  people: { type: "array", items: { type: "object", properties: { age: { type: "number" } } } },
  address: {
    type: "object",
    properties: { zip: { type: "number" }, lines: { type: "array", items: { type: "string" } } },
  },
  "odd[name]": { type: "number" },
});

function coerce(...entries: FormEntry[]): unknown {
  return coerceForm(entries, definition);
}

test("text becomes a value of the schema's type, and stays text if it does not fit", () => {
  expect(coerce(["name", "42"], ["age", " 42 "], ["agree", "on"])).toEqual({
    name: "42",
    age: 42,
    agree: true,
  });
  for (const good of ["-1.5", "1e3", ".5", "7.", "+2"])
    expect(coerce(["age", good])).toEqual({ age: Number(good) });
  for (const bad of ["4,2", "0x10", "1e999", "NaN", "Infinity", "1 2", "e1", `1${"0".repeat(400)}`]) {
    expect(coerce(["age", bad])).toEqual({ age: bad });
  }
  for (const yes of ["on", "true", "1"]) expect(coerce(["agree", yes])).toEqual({ agree: true });
  for (const no of ["off", "false", "0"]) expect(coerce(["agree", no])).toEqual({ agree: false });
  expect(coerce(["agree", "constructor"])).toEqual({ agree: "constructor" });
});

test("an empty input is absent, in lists and objects too", () => {
  expect(coerce(["name", ""], ["age", ""], ["tags", ""], ["address[zip]", ""], ["other", ""])).toEqual({});
  expect(coerce(["tags", "a"], ["tags", ""])).toEqual({ tags: ["a"] });
});

test("of a repeated name the last counts, unless the field is a list", () => {
  expect(coerce(["name", "a"], ["name", "b"], ["agree", "0"], ["agree", "1"])).toEqual({
    name: "b",
    agree: true,
  });
  expect(coerce(["tags", "a"], ["tags", "b"])).toEqual({ tags: ["a", "b"] });
  expect(coerce(["other", "a"], ["other", "b"])).toEqual({ other: ["a", "b"] });
});

test("lists may be written a, a[] or a[0], and one value is a list of one", () => {
  expect(coerce(["tags", "x"])).toEqual({ tags: ["x"] });
  expect(coerce(["counts[]", "1"], ["counts[]", "2"])).toEqual({ counts: [1, 2] });
  expect(coerce(["counts[10]", "10"], ["counts[2]", "2"])).toEqual({ counts: [2, 10] });
  expect(coerce(["people[0][age]", "7"], ["people[1][age]", "8"])).toEqual({
    people: [{ age: 7 }, { age: 8 }],
  });
  expect(coerce(["more[]", "1"])).toEqual({ more: ["1"] });
});

test("a[][b] makes a list of groups, in which a new one begins when a name comes again", () => {
  const text = { type: "string" } as const;
  const guests = parseDefinition({
    guests: {
      type: "array",
      items: {
        type: "object",
        properties: {
          name: text,
          vegan: { type: "boolean", required: true },
          days: { type: "array", items: text },
          pets: { type: "array", items: { type: "object", properties: { name: text } } },
        },
      },
    },
    free: { type: "object" },
  });
  const read = (...entries: FormEntry[]) => coerceForm(entries, guests);
  const of = (name: string, value: string): FormEntry => [`guests[][${name}]`, value];
  expect(read(of("name", "Ada"), of("name", "Bo"), of("name", ""), of("name", "Cy"))).toEqual({
    guests: [{ name: "Ada" }, { name: "Bo" }, { name: "Cy" }],
  });
  const [no, yes] = [of("vegan", "unticked"), of("vegan", "on")];
  expect(
    read(no, yes, of("name", ""), no, of("name", "Bo"), of("days", "Fri"), of("days", "Sat"), no, yes),
  ).toEqual({
    guests: [{ vegan: true }, { vegan: false, name: "Bo", days: ["Fri", "Sat"] }, { vegan: true }],
  });
  const pet = (value: string): FormEntry => ["guests[][pets][][name]", value];
  expect(read(of("name", "Ada"), pet("Rex"), pet("Tom"), of("name", "Bo"), pet("Kim"))).toEqual({
    guests: [
      { name: "Ada", pets: [{ name: "Rex" }, { name: "Tom" }] },
      { name: "Bo", pets: [{ name: "Kim" }] },
    ],
  });
  expect(read(of("name", "Bo"), ["guests[0][name]", "Ada"])).toEqual({
    guests: [{ name: "Ada" }, { name: "Bo" }],
  });
  expect(read(["more[][a]", "1"], ["more[][b]", "2"], ["more[][a]", "3"])).toEqual({
    more: [{ a: "1", b: "2" }, { a: "3" }],
  });
  expect(read(["free[][a]", "1"], ["free[][a]", "2"])).toEqual({ free: { "": { a: ["1", "2"] } } });
});

test("a[b] makes objects, coerced at every depth", () => {
  expect(coerce(["address[zip]", "12"], ["address[lines][]", "x"], ["address[other]", "1"])).toEqual({
    address: { zip: 12, lines: ["x"], other: "1" },
  });
  expect(coerce(["free[a][b]", "1"])).toEqual({ free: { a: { b: "1" } } });
});

test("a declared field's own name is never taken apart, nor is one that is not well formed or too deep", () => {
  expect(coerce(["odd[name]", "3"])).toEqual({ "odd[name]": 3 });
  for (const name of ["a[", "a]b", "[a]", "a[b]c", `a${"[b]".repeat(9)}`]) {
    expect(coerce([name, "1"])).toEqual({ [name]: "1" });
  }
});

test("a wrong shape stays visible to the validator instead of being lost", () => {
  expect(coerce(["name[x]", "1"])).toEqual({ name: { x: "1" } });
  expect(coerce(["address", "1"])).toEqual({ address: "1" });
  expect(coerce(["tags[a]", "1"])).toEqual({ tags: { a: "1" } });
});

test("a box that nobody ticked fills in no group and no row that may stay empty, and is a no in any other", () => {
  const box = { type: "boolean", required: true } as const;
  const group = {
    type: "object",
    properties: { box, text: { type: "string" }, free: { type: "object" } },
  } as const;
  const grouped = parseDefinition({
    may: { ...group, properties: { ...group.properties, inner: { ...group, required: true } } },
    must: { ...group, required: true },
    rows: { type: "array", required: true, items: group },
  });
  const read = (...entries: FormEntry[]) => coerceForm(entries, grouped);
  const none = (name: string): FormEntry => [`${name}[box]`, "unticked"];
  expect(read(none("may"), none("may[inner]"), none("rows[0]"))).toEqual({});
  expect(read(none("must"))).toEqual({ must: { box: false } });
  expect(read(none("may"), none("may[inner]"), ["may[inner][text]", "x"])).toEqual({
    may: { box: false, inner: { box: false, text: "x" } },
  });
  expect(
    read(none("rows[0]"), none("rows[1]"), ["rows[1][box]", "on"], none("rows[2]"), ["rows[2][text]", "x"]),
  ).toEqual({
    rows: [{ box: true }, { box: false, text: "x" }],
  });
  // It is a word like any other in an input for text.
  expect(read(["may[text]", "unticked"], ["rows[0][text]", "unticked"], ["other", "unticked"])).toEqual({
    may: { text: "unticked" },
    rows: [{ text: "unticked" }],
    other: "unticked",
  });
  expect(read(["may[free][a]", "unticked"])).toEqual({ may: { free: { a: "unticked" } } });
});

test("line breaks are counted as scripts see them", () => {
  expect(coerce(["name", "a\r\nb\rc\nd"])).toEqual({ name: "a\nb\nc\nd" });
});

test("__proto__ is never a member, at any depth", () => {
  const made = coerceForm(
    [
      ["__proto__", "x"],
      ["__proto__[polluted]", "x"],
      ["address[__proto__][polluted]", "x"],
      ["constructor[prototype][polluted]", "x"],
    ],
    definition,
  );
  expect(Object.keys(made)).toEqual(["address", "constructor"]);
  expect(Object.getPrototypeOf(made["address"])).toBe(Object.prototype);
  expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
});

test("whatever is sent, coercing neither throws nor makes a prototype of its own", () => {
  const name = fc.oneof(
    fc.constantFrom("name", "age", "agree", "tags", "tags[]", "address[zip]", "people[0][age]", "__proto__"),
    fc.string({ unit: fc.constantFrom("a", "[", "]", "0", "_") }),
  );
  fc.assert(
    fc.property(fc.array(fc.tuple(name, fc.string()), { maxLength: 20 }), (entries) => {
      const made = coerceForm(entries, definition);
      expect(Object.getPrototypeOf(made)).toBe(Object.prototype);
      expect(() => JSON.stringify(made)).not.toThrow();
    }),
  );
});

test("a plain value beside parts of the same name is a part too, under a name that no other has", () => {
  expect(coerce(["topic", "x"], ["topic[a]", "y"])).toEqual({ topic: { a: "y", topic: "x" } });
  expect(coerce(["topic[a]", "y"], ["topic", "x"], ["topic", "z"])).toEqual({
    topic: { a: "y", topic: ["x", "z"] },
  });
  expect(coerce(["address", "x"], ["address[zip]", "1"])).toEqual({ address: { zip: 1, address: "x" } });
  expect(coerce(["people[0]", "x"], ["people[0][age]", "1"])).toEqual({ people: [{ age: 1, people: "x" }] });
  expect(coerce(["topic", "x"], ["topic[topic]", "y"])).toEqual({ topic: { topic: "y", topic_: "x" } });
});

test("of inputs that no schema declares, every text that was sent is there", () => {
  const part = fc.constantFrom("", "0", "1", "a", "b");
  const name = fc
    .tuple(fc.constantFrom("a", "b"), fc.array(part, { maxLength: 3 }))
    .map(([base, parts]) => base + parts.map((each) => `[${each}]`).join(""));
  fc.assert(
    fc.property(fc.array(name, { maxLength: 12 }), (names) => {
      const made = JSON.stringify(
        coerceForm(
          names.map((each, index) => [each, `text ${index}.`]),
          {},
        ),
      );
      for (const index of names.keys()) expect(made).toContain(`"text ${index}."`);
    }),
    { numRuns: 1000 },
  );
});
