import { expect, test } from "vitest";
import { LANGUAGES } from "../../src/languages/language.ts";
import { wordingIn } from "../../src/languages/wording.ts";
import { compileSchema } from "../../src/schemas/compile-schema.ts";
import { parseDefinition, type SchemaDefinition } from "../../src/schemas/definition.ts";
import { labelAt, visitorLabel } from "../../src/schemas/field-label.ts";
import { formSnippet } from "../../src/schemas/form-snippets.ts";
import { reword } from "../../src/schemas/issue-report.ts";
import { jsonSchemaOf } from "../../src/schemas/json-schema.ts";

const FORM: SchemaDefinition = {
  email: { type: "string", required: true, label: "Your e-mail", format: "email" },
  tags: { type: "array", label: "Topics", items: { type: "string", label: "ignored", maxLength: 3 } },
  address: {
    type: "object",
    label: "Where to",
    properties: { city: { type: "string", maxLength: 5 }, zip: { type: "string", label: "Postcode" } },
  },
  plain: { type: "number" },
};

test("a value is called by the innermost label, or by its name, and items are counted from 1", () => {
  const called = (...path: string[]) => labelAt(FORM, path);
  expect(called("email")).toBe("Your e-mail");
  expect(called("tags", "0")).toBe("Topics 1");
  expect(called("address", "city")).toBe("Where to city");
  expect(called("address", "zip")).toBe("Postcode");
  expect(called("plain")).toBe("plain");
  expect(called("unknown", "0")).toBe("unknown.0");
  expect(called("constructor")).toBe("constructor");
});

const PARTY: SchemaDefinition = {
  first_name: { type: "string", required: true },
  billingAddress: { type: "object", properties: { "post-code": { type: "string", maxLength: 2 } } },
  guests: {
    type: "array",
    items: {
      type: "object",
      properties: {
        name: { type: "string", required: true },
        meal: { type: "string", required: true, label: "Dish" },
        tags: { type: "array", items: { type: "string", maxLength: 1 } },
      },
    },
  },
};

test("visitors read a field's label, or its name in words, with the group or row around it, and never a path", () => {
  const called = (...path: string[]) => visitorLabel({ ...FORM, ...PARTY }, path);
  expect(called("email")).toBe("Your e-mail");
  expect(called("tags", "0")).toBe("Topics 1");
  expect(called("address", "city")).toBe("City (Where to)");
  expect(called("address", "zip")).toBe("Postcode (Where to)");
  expect(called("first_name")).toBe("First name");
  expect(called("billingAddress", "post-code")).toBe("Post code (Billing address)");
  expect(called("guests", "1")).toBe("Guests 2");
  expect(called("guests", "1", "name")).toBe("Name (Guests 2)");
  expect(called("guests", "0", "meal")).toBe("Dish (Guests 1)");
  expect(called("guests", "9", "tags", "2")).toBe("Tags 3 (Guests 10)");
  expect(called("constructor")).toBe("Constructor");
  // Letters of other kinds, names that are none, and what would be no word.
  for (const [name, words] of [
    ["имя_гостя", "Имя гостя"],
    ["שם", "שם"],
    ["iPhone", "IPhone"],
    ["userID", "UserID"],
    ["__proto__", "Proto"],
    ["", ""],
  ] as const)
    expect(called(name), name).toBe(words);
});

test("in every language a visitor's sentences name what has no label without a dot or line below, and the developer's have the path", () => {
  const sent = {
    billingAddress: { "post-code": "123" },
    guests: [
      { name: "Ida", meal: "Soup" },
      { meal: "Fish", tags: ["a", "long"] },
    ],
  };
  const checked = compileSchema(PARTY, "drop").validate(sent);
  if (checked.ok) throw new Error("the values are wrong");
  const sentences = (details: typeof checked.details) =>
    Object.values(details).flatMap(({ issues }) => issues.map(({ message }) => message));
  expect(sentences(checked.details)).toEqual([
    "first_name is required",
    "billingAddress.post-code must have at most 2 characters",
    "guests.1.name is required",
    "guests.1.tags.1 must have at most 1 character",
  ]);
  const names = ["First name", "Post code (Billing address)", "Name (Guests 2)", "Tags 2 (Guests 2)"];
  for (const language of LANGUAGES) {
    const said = sentences(reword(checked.details, wordingIn(language), PARTY));
    for (const [index, name] of names.entries()) expect(said[index], language).toContain(name);
    expect(said.join(" "), language).not.toMatch(/[a-z][._][a-z0-9]/);
  }
});

test("sentences about wrong values have the labels, in each language, and paths keep the names", () => {
  const sent = { email: "x", tags: ["long word"], address: { city: "Heidelberg" }, plain: "x" };
  const checked = compileSchema(FORM, "drop").validate(sent);
  if (checked.ok) throw new Error("the values are wrong");
  const sentences = (details: typeof checked.details) =>
    Object.values(details).flatMap(({ issues }) => issues.map(({ message }) => message));
  expect(sentences(checked.details)).toEqual([
    "Your e-mail must be an e-mail address",
    "Topics 1 must have at most 3 characters",
    "Where to city must have at most 5 characters",
    "plain must be a number written like 1234.5, not text",
  ]);
  expect(sentences(reword(checked.details, wordingIn("de"), FORM))[0]).toContain("Your e-mail");
  expect(checked.details["tags"]?.issues[0]?.path).toEqual(["tags", "0"]);
});

test("a label is one line of 1 to 100 characters, and anything else is refused with its place", () => {
  const refusal = (label: unknown) => {
    try {
      parseDefinition({ name: { type: "string", label } });
      return null;
    } catch (error) {
      return (error as { facts: { details: { problems: { path: string }[] } } }).facts.details.problems[0]
        ?.path;
    }
  };
  for (const label of ["Name", "x".repeat(100), "<b>Né</b>", "اسم"]) expect(refusal(label), label).toBeNull();
  for (const label of ["", " ", "x".repeat(101), "a\nb", "a\u202eb", 7, null])
    expect(refusal(label), String(label)).toBe("name.label");
});

test("the snippet and the JSON Schema have the label, and markup in it is text", () => {
  const fields: SchemaDefinition = { cake: { type: "string", label: "Your <b>cake</b>" } };
  const snippet = formSnippet(fields, { base: "https://forms.example", key: "fpk_x", honeypot: null });
  expect(snippet).toContain("<label>Your &lt;b&gt;cake&lt;/b&gt; (optional) <input");
  const schema = jsonSchemaOf({ name: "Orders", version: 1, fields, unknownFields: "drop" });
  expect(schema).toMatchObject({ properties: { cake: { title: "Your <b>cake</b>" } } });
});
