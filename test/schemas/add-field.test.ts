import { expect, test } from "vitest";
import { addFieldAt } from "../../src/schemas/add-field.ts";
import { compileSchema } from "../../src/schemas/compile-schema.ts";
import { parseDefinition } from "../../src/schemas/definition.ts";

const definition = parseDefinition({
  name: { type: "string", required: true },
  person: { type: "object", properties: { first: { type: "string" } } },
  list: { type: "array", items: { type: "object", properties: { a: { type: "number" } } } },
  free: { type: "object" },
});

test.each<[string, Record<string, unknown>]>([
  ["a text", { allergies: "peanuts" }],
  ["a number", { guests: 4 }],
  ["a boolean", { news: true }],
  ["a list of texts", { toppings: ["ham", "egg"] }],
  ["a member of an object", { person: { age: 3 } }],
  ["a member of an object in a list", { list: [{ a: 1 }, { b: true }] }],
  ["a name with spaces, and one of every object's members", { "your dog": "Rex", constructor: "x" }],
])("after adding a field for %s the same post has it in its data, and nothing is set aside", (_, body) => {
  const before = compileSchema(definition, "set-aside").validate({ name: "A", ...body });
  if (!before.ok || before.setAside === null) throw new Error("nothing was set aside");
  let changed = definition;
  for (const [path, value] of Object.entries(before.setAside.fields)) {
    const added = addFieldAt(changed, path, value);
    if (added !== "declared") changed = parseDefinition(added);
  }
  const after = compileSchema(changed, "set-aside").validate({ name: "A", ...body });
  expect(after).toEqual({ ok: true, data: { name: "A", ...body }, setAside: null });
  expect(compileSchema(changed, "set-aside").validate({ name: "A" }).ok).toBe(true);
  expect(Object.keys(changed).slice(0, 4)).toEqual(Object.keys(definition));
});

test.each([
  ["a field that is there", "name", "x"],
  ["a member that is there", "person.first", "x"],
  ["anything in an object without declared members", "free.x.y", 1],
])("%s is told as declared", (_, path, value) => {
  expect(addFieldAt(definition, path, value)).toBe("declared");
});

test.each([
  ["the member of an undeclared object", "deep.x", "x"],
  ["null", "gone", null],
  ["an empty object", "empty", {}],
  ["an empty list in a declared object", "person.none", []],
])("for %s nobody can tell what field is meant", (_, path, value) => {
  expect(addFieldAt(definition, path, value)).toBe("unclear");
});
