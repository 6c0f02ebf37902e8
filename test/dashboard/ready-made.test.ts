import { expect, test } from "vitest";
import { formPreview } from "../../src/dashboard/forms/form-preview.ts";
import { listEndpoints, readSchema } from "../../src/endpoints/endpoint-store.ts";
import { fieldsIn, READY_MADE, readyMade, translateRows } from "../../src/dashboard/forms/ready-made.ts";
import { rowsOf } from "../../src/dashboard/forms/schema-form.ts";
import { type Language, LANGUAGES } from "../../src/languages/language.ts";
import { wordingIn } from "../../src/languages/wording.ts";
import { compileSchema } from "../../src/schemas/compile-schema.ts";
import { parseDefinition, type SchemaDefinition } from "../../src/schemas/definition.ts";
import { exampleOf, formSnippet } from "../../src/schemas/form-snippets.ts";
import { formOf } from "../support/page.ts";
import { startServer } from "../support/test-server.ts";
import { visit } from "../support/visitor.ts";

const PAGE = "/dashboard/endpoints/new";
const TARGET = { base: "https://forms.example", key: "fpk_x", honeypot: null };

test("every ready-made form passes the check and takes the answers of its own example", () => {
  for (const made of READY_MADE) {
    const checked = parseDefinition(fieldsIn(made, "en"));
    const files = Object.entries(checked).filter(([, { type }]) => type === "file");
    const withoutFiles = { ...checked };
    for (const [name] of files) delete withoutFiles[name];
    expect(compileSchema(withoutFiles, "reject").validate(exampleOf(checked)), made.id).toMatchObject({
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
  expect(JSON.parse(String(stored))).toEqual(fieldsIn(readyMade("booking"), "en"));
});

test.each(LANGUAGES)(
  "each ready-made form can be had in %s, with the same inputs, and goes over into English and back",
  (language) => {
    for (const made of READY_MADE) {
      const english = rowsOf(fieldsIn(made, "en"));
      const rows = rowsOf(parseDefinition(fieldsIn(made, language)));
      expect(rows.map(({ name, kind }) => [name, kind])).toEqual(
        english.map(({ name, kind }) => [name, kind]),
      );
      expect(translateRows(english, "en", language)).toEqual(rows);
      expect(translateRows(rows, language, "en")).toEqual(english);
    }
  },
);

test("a ready-made form has its labels and choices in the language that was chosen, up to the form that is made", async () => {
  const server = await startServer();
  const ada = await visit(server);
  const { text } = await ada.get(`${PAGE}?start=order&language=de`);
  expect(text).toMatch(/start=booking&amp;language=de/);
  const german = formOf(text, PAGE).values;
  expect([german.get("f.0.label"), german.get("f.3.enum")?.replaceAll("\r", "")]).toEqual([
    "Ihr Name",
    "Erstes\nZweites\nDrittes",
  ]);
  const stored = async (values: URLSearchParams, name: string): Promise<unknown> => {
    values.set("name", name);
    values.set("action", "create");
    const made = await ada.post(PAGE, values);
    expect(made.status, made.text).toBe(201);
    const endpoint = server.owner.now(() => listEndpoints(null)).find((each) => each.name === name);
    return endpoint && server.owner.now(() => readSchema(endpoint));
  };
  expect(await stored(german, "One")).toEqual(fieldsIn(readyMade("order"), "de"));
  // Without a script the language is chosen after the fields were shown in English; what was typed stays.
  const { values } = formOf((await ada.get(`${PAGE}?start=order`)).text, PAGE);
  values.set("language", "ja");
  values.set("f.5.label", "Anything else");
  values.set("f.3.enum", "First\r\nPlum\r\nThird");
  const { item, ...others } = fieldsIn(readyMade("order"), "ja");
  const expected = {
    ...others,
    item: { ...item, enum: ["1つ目", "Plum", "3つ目"] },
    wishes: { ...others["wishes"], label: "Anything else" },
  };
  expect(await stored(values, "Two")).toEqual(expected);
});

test("what a form started from stays marked, whichever language is chosen and whatever is changed", async () => {
  const server = await startServer();
  const ada = await visit(server);
  const markOf = (text: string) => /start=(\w+)[^"]*"\s+aria-current="true"/.exec(text)?.[1] ?? null;
  let { values } = formOf((await ada.get(`${PAGE}?start=order`)).text, PAGE);
  const press = async (action: string, language: string) => {
    values.set("action", action);
    values.set("language", language);
    const { text } = await ada.post(PAGE, values);
    ({ values } = formOf(text, PAGE));
    return [markOf(text), /start=booking[^"]*/.exec(text)?.[0]];
  };
  const inGerman = ["order", "start=booking&amp;language=de"];
  expect(await press("translate", "de")).toEqual(inGerman);
  expect(await press("add-text", "de")).toEqual(inGerman);
  expect(await press("json", "de")).toEqual(inGerman);
  // Without a name it is not made, and comes again.
  expect(await press("create", "")).toEqual(["order", "start=booking"]);
  values.set("start", '"><script>');
  expect(await press("look", "")).toEqual([null, "start=booking"]);
});

test("fields that are written as JSON stay as they stand, and follow the language once they are rows again", async () => {
  const server = await startServer();
  const ada = await visit(server);
  let { values } = formOf((await ada.get(`${PAGE}?start=newsletter`)).text, PAGE);
  const press = async (action: string, language: string) => {
    values.set("action", action);
    values.set("language", language);
    ({ values } = formOf((await ada.post(PAGE, values)).text, PAGE));
  };
  await press("json", "");
  const json = values.get("schema");
  expect(json).toContain("Yes, send me your newsletter");
  await press("look", "nl");
  expect(values.get("schema")).toBe(json);
  await press("form", "nl");
  await press("look", "nl");
  expect(values.get("f.1.label")).toBe("Ja, stuur mij uw nieuwsbrief");
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
  expect([...begun.matchAll(/<bdi>(.*?)<\/bdi>/g)].map(([, label]) => label)).toEqual(["Field 1", "Consent"]);
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

const PARTY: SchemaDefinition = {
  name: { type: "string", required: true, label: "Name" },
  wish: { type: "string", label: "Wish" },
  size: { type: "string", enum: ["S", "L"], default: "S", required: true, label: "Size" },
  days: { type: "array", label: "Days", items: { type: "string", enum: ["Fri"] } },
  agree: { type: "boolean", label: "Agree" },
  me: {
    type: "object",
    required: true,
    label: "Me",
    properties: { phone: { type: "string", label: "Phone" } },
  },
  partner: {
    type: "object",
    label: "Partner",
    properties: { dish: { type: "string", required: true, label: "Dish" } },
  },
  guests: {
    type: "array",
    required: true,
    label: "Guests",
    items: { type: "object", properties: { first_name: { type: "string", required: true } } },
  },
  photo: { type: "file", label: "Photo", accept: ["image/*"], maxBytes: 2_097_152 },
};

test("a preview marks what may stay empty, groups and rows too, and says what a field takes of files, in the form's language", () => {
  const shown = (language: Language | null) =>
    String(formPreview(PARTY, { language, fileBounds: { maxFileBytes: 5_242_880, maxFiles: 5 } }));
  const marked = (markup: string, mark: string) =>
    [...markup.matchAll(/<bdi>(.*?)<\/bdi>( \d)?( <span class="muted">\((.*?)\)<\/span>)?/g)]
      .filter(([, , , , word]) => word === mark)
      .map(([, label, row = ""]) => `${label}${row}`);
  const expected = ["Wish", "Size", "Days", "Phone", "Partner", "Guests 2", "Guests 3", "Photo"];
  expect(marked(shown(null), "optional")).toEqual(expected);
  expect(shown(null)).toContain("Up to 2 MB: pictures");
  expect(shown(null)).toContain("<bdi>First name</bdi>");
  const german = wordingIn("de");
  expect(marked(shown("de"), german.text("optional"))).toEqual(expected);
  expect(shown("de")).not.toMatch(/optional|>Send<|Up to|pictures|Please/);
  const size = { size: "2 MB", kinds: german.text("kindImage") };
  expect(shown("de")).toContain(german.text("fileTakes", size));
  expect(shown("de")).toContain(german.text("send"));
  expect(shown("he")).toMatch(/lang="he" dir="rtl" inert/);
});

test("the pages of a new form and of its fields show the preview in the language that was chosen, and the code says what files it takes", async () => {
  const server = await startServer({ files: { maxFileBytes: 3_145_728 } });
  const ada = await visit(server);
  const { values } = formOf((await ada.get(`${PAGE}?start=job`)).text, PAGE);
  values.set("language", "de");
  values.set("name", "Bewerbung");
  values.set("action", "up-1");
  const hint = /class="hint">[^<]*3 MB/;
  const preview = (text: string) => text.replace(/[^]*form-preview/, "");
  const begun = await ada.post(PAGE, values);
  expect(preview(begun.text)).toContain(wordingIn("de").text("send"));
  expect(preview(begun.text)).toMatch(hint);
  values.set("action", "create");
  const made = await ada.post(PAGE, values);
  expect(made.status).toBe(201);
  expect(made.text).toMatch(/&lt;small&gt;[^&]*3 MB/);
  const id = /\/dashboard\/endpoints\/(ep_\w+)/.exec(made.text)?.[1] ?? "";
  expect(preview((await ada.get(`/dashboard/endpoints/${id}/fields`)).text)).toMatch(hint);
  expect((await ada.get(`/dashboard/endpoints/${id}/keys`)).text).toMatch(/&lt;small&gt;[^&]*3 MB/);
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
