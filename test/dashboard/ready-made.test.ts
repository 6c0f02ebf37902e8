import { expect, test } from "vitest";
import { READY_MADE } from "../../src/dashboard/forms/ready-made.ts";
import { compileSchema } from "../../src/schemas/compile-schema.ts";
import { parseDefinition } from "../../src/schemas/definition.ts";
import { exampleOf, formSnippet } from "../../src/schemas/form-snippets.ts";
import { formOf } from "../support/page.ts";
import { startServer } from "../support/test-server.ts";
import { visit } from "../support/visitor.ts";

const PAGE = "/dashboard/endpoints/new";
const TARGET = { base: "https://forms.example", key: "fpk_x", honeypot: null };

test("every ready-made form passes the check and takes the answers of its own example", () => {
  for (const { id, definition } of READY_MADE) {
    const checked = parseDefinition(definition);
    const files = Object.entries(checked).filter(([, { type }]) => type === "file");
    const withoutFiles = { ...checked };
    for (const [name] of files) delete withoutFiles[name];
    expect(compileSchema(withoutFiles, "reject").validate(exampleOf(checked)), id).toMatchObject({
      ok: true,
    });
  }
});

test("a new form begins from the one that was chosen, shows what visitors will see, and is made with its fields", async () => {
  const server = await startServer();
  const ada = await visit(server);
  const { text } = await ada.get(`${PAGE}?start=booking`);
  expect(text).toMatch(/start=booking"\s+aria-current="true"/);
  expect(text.replaceAll(/\s+/g, " ")).toContain('<bdi>How many people</bdi></span><input type="number" />');
  const { values } = formOf(text, PAGE);
  values.set("name", "Tables");
  values.set("action", "create");
  const made = await ada.post(PAGE, values);
  expect(made.status, made.text).toBe(201);
  const stored = server.owner.prepare("SELECT definition FROM endpoint_schema").pluck().get();
  expect(JSON.parse(String(stored))).toEqual(READY_MADE.find(({ id }) => id === "booking")?.definition);
});

test("a start that is not there is the first one, and a form without fields can be begun", async () => {
  const server = await startServer();
  const ada = await visit(server);
  const { text } = await ada.get(`${PAGE}?start=%3Cscript%3E`);
  expect(text).toMatch(/start=contact"\s+aria-current="true"/);
  expect((await ada.get(`${PAGE}?start=nothing`)).text).toContain("No fields yet.");
});

test("a preview shows each field that is right, one without a name by its place, and its inputs are no part of the page's form", async () => {
  const server = await startServer();
  const ada = await visit(server);
  const { values } = formOf((await ada.get(`${PAGE}?start=newsletter`)).text, PAGE);
  expect([...values.keys()].filter((name) => name === "")).toEqual([]);
  values.set("f.0.name", "");
  values.set("f.0.label", "");
  values.set("f.1.label", "");
  values.set("f.1.name", "consent");
  values.set("action", "add-choice");
  const begun = (await ada.post(PAGE, values)).text.replace(/[^]*form-preview/, "");
  // A choice without choices is none yet.
  expect([...begun.matchAll(/<bdi>(.*?)<\/bdi>/g)].map(([, label]) => label)).toEqual(["Field 1", "consent"]);
  values.set("view", "json");
  values.set("schema", "{");
  expect((await ada.post(PAGE, values)).text).toContain("Once the fields are right");
  values.set("view", "form");
  values.set("f.0.name", "email");
  values.set("f.0.label", "Where to <write>");
  values.set("action", "up-1");
  const { text } = await ada.post(PAGE, values);
  expect(text).toContain("<bdi>Where to &lt;write&gt;</bdi>");
});

test("a snippet asks for consent, offers days and numbers in their own inputs, and says its language", () => {
  const definition = {
    day: { type: "string", format: "date", required: true },
    phone: { type: "string", format: "phone" },
    consent: { type: "boolean", required: true, enum: [true] },
    cake: { type: "string", enum: ["Plum"] },
  } as const;
  const snippet = formSnippet(definition, { ...TARGET, language: "de" });
  expect(snippet).toContain('<input name="day" type="date" required>');
  expect(snippet).toContain('<input name="phone" type="tel" autocomplete="tel">');
  expect(snippet).toContain('<input type="checkbox" name="consent" value="true" required>');
  expect(snippet).toContain('<select name="cake"><option value=""></option><option>Plum</option></select>');
  expect(snippet).toContain('method="post" lang="de">');
});
