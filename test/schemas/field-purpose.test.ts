import { expect, test } from "vitest";
import { purposeOf } from "../../src/schemas/field-purpose.ts";
import type { SchemaDefinition } from "../../src/schemas/definition.ts";
import { formSnippet } from "../../src/schemas/form-snippets.ts";

test("browsers are told what they may fill in about the visitor, however a name is written", () => {
  const text = ["name", "first_name", "Nachname", "companyName", "Straße", "PLZ", "address[city]"];
  expect(text.map((name) => purposeOf(name, "text"))).toEqual([
    "name",
    "given-name",
    "family-name",
    "organization",
    "address-line1",
    "postal-code",
    "address-level2",
  ]);
  expect(purposeOf("address", "lines")).toBe("street-address");
  expect(purposeOf("date_of_birth", "date")).toBe("bday");
});

test("nothing is filled in that may be about somebody or something else", () => {
  const others = ["guests[0][name]", "child[first_name]", "name_of_the_cake", "message", "constructor"];
  expect(others.map((name) => purposeOf(name, "text"))).toEqual(others.map(() => null));
  expect([purposeOf("birthday", "text"), purposeOf("name", "date")]).toEqual([null, null]);
});

test("the code of a form says it for texts and dates, and formats for themselves", () => {
  const definition: SchemaDefinition = {
    name: { type: "string", required: true },
    city: { type: "string", enum: ["Graz", "Linz"] },
    zip: { type: "number" },
    birthday: { type: "string", format: "date" },
    address: { type: "string", maxLength: 1000 },
    company: { type: "string", format: "url" },
  };
  const target = { base: "https://forms.example.com", key: "fpk_1", honeypot: null };
  const code = formSnippet(definition, target);
  expect([...code.matchAll(/<(?:input|textarea|select)[^>]*>/g)].map(([tag]) => tag)).toEqual([
    '<input name="name" autocomplete="name" required>',
    '<select name="city">',
    '<input name="zip" type="number" step="any">',
    '<input name="birthday" autocomplete="bday" type="date">',
    '<textarea name="address" autocomplete="street-address" maxlength="1000">',
    '<input name="company" type="url">',
  ]);
});
