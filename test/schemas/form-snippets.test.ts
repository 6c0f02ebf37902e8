import { expect, test } from "vitest";
import { formSnippet } from "../../src/schemas/form-snippets.ts";
import { parseDefinition } from "../../src/schemas/definition.ts";

const target = { base: "https://forms.example.com", key: "fpk_x", honeypot: null };

/** The tag of the select and its options. */
function selectOf(field: object): string {
  const snippet = formSnippet(parseDefinition({ topic: field }), target);
  return /<select[^]*<\/select>/.exec(snippet)?.[0] ?? snippet;
}

test("a choice that nobody made is not sent: an optional one begins with an empty option", () => {
  expect(selectOf({ type: "string", enum: ["sales", "support"] })).toBe(
    '<select name="topic"><option value=""></option><option>sales</option><option>support</option></select>',
  );
});

test("a required choice begins with an empty option, which a browser does not send", () => {
  expect(selectOf({ type: "number", enum: [1, 2], required: true })).toBe(
    '<select name="topic" required><option value=""></option><option>1</option><option>2</option></select>',
  );
});

test("a choice with a default shows it as chosen", () => {
  expect(selectOf({ type: "string", enum: ["a", "b"], default: "b" })).toBe(
    '<select name="topic"><option value=""></option><option>a</option><option selected>b</option></select>',
  );
});

test("a list of choices has no empty option: nothing is chosen until somebody does", () => {
  expect(selectOf({ type: "array", items: { type: "string", enum: ["a", "b"] } })).toBe(
    '<select name="topic" multiple><option>a</option><option>b</option></select>',
  );
});
