import { expect, test } from "vitest";
import { formSnippet } from "../../src/schemas/form-snippets.ts";
import { wordingIn } from "../../src/languages/wording.ts";
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

/** The lines between the form's tags. */
function linesOf(definition: object, language: string | null = null): string[] {
  const snippet = formSnippet(parseDefinition(definition), { ...target, language });
  return snippet
    .split("\n")
    .slice(2, -1)
    .map((line) => line.slice(2));
}

const SEND = "<p><button>Send</button></p>";

test("several choices are boxes to tick, and many of them a list without an empty option", () => {
  const days = { type: "array", required: true, items: { type: "string", enum: ["a", 'b"<'] } };
  expect(linesOf({ days })).toEqual([
    "<fieldset>",
    "  <legend>Days</legend>",
    '  <label><input type="checkbox" name="days" value="a"> a</label>',
    '  <label><input type="checkbox" name="days" value="b&quot;&lt;"> b&quot;&lt;</label>',
    "</fieldset>",
    SEND,
  ]);
  const many = {
    type: "array",
    items: { type: "number", enum: Array.from({ length: 13 }, (_, day) => day) },
  };
  expect(selectOf(many)).toMatch(/^<select name="topic" multiple><option>0<\/option>/);
});

test("what may stay empty is marked and the button named in the form's language; a value of its own is not asked for", () => {
  const definition = {
    name: { type: "string", required: true },
    phone: { type: "string", format: "phone" },
    from: { type: "string", required: true, default: "web" },
  };
  expect(linesOf(definition, "de-AT")).toEqual([
    '<p><label>Name <input name="name" autocomplete="name" required></label></p>',
    '<p><label>Phone (freiwillig) <input name="phone" type="tel" autocomplete="tel"></label></p>',
    '<p><label>From (freiwillig) <input name="from"></label></p>',
    "<p><button>Senden</button></p>",
  ]);
});

test("a group has its name above its inputs, and a list of groups has rows, of which the first is asked for", () => {
  const properties = { name: { type: "string", required: true } };
  const guests = {
    type: "array",
    label: "Guests",
    required: true,
    maxItems: 2,
    items: { type: "object", properties },
  };
  const inner = {
    ...properties,
    news: { type: "boolean", default: true },
    agree: { type: "boolean", required: true, enum: [true] },
  };
  expect(linesOf({ guests, home: { type: "object", label: "<Home>", properties: inner } })).toEqual([
    "<fieldset>",
    "  <legend>Guests 1</legend>",
    '  <p><label>Name <input name="guests[0][name]" required></label></p>',
    "</fieldset>",
    "<fieldset>",
    "  <legend>Guests 2 (optional)</legend>",
    '  <p><label>Name <input name="guests[1][name]"></label></p>',
    "</fieldset>",
    "<fieldset>",
    "  <legend>&lt;Home&gt; (optional)</legend>",
    '  <p><label>Name <input name="home[name]"></label></p>',
    '  <p><input type="hidden" name="home[news]" value="unticked"><label><input type="checkbox" name="home[news]" value="true"> News</label></p>',
    '  <p><label><input type="checkbox" name="home[agree]" value="true"> Agree</label></p>',
    "</fieldset>",
    SEND,
  ]);
});

test("a yes or no can be answered with no, and a consent has to be ticked", () => {
  const definition = {
    paid: { type: "boolean", required: true },
    news: { type: "boolean", default: true },
    vegan: { type: "boolean" },
    agree: { type: "boolean", required: true, enum: [true] },
  };
  expect(linesOf(definition)).toEqual([
    '<p><input type="hidden" name="paid" value="false"><label><input type="checkbox" name="paid" value="true"> Paid</label></p>',
    '<p><input type="hidden" name="news" value="false"><label><input type="checkbox" name="news" value="true" checked> News</label></p>',
    '<p><label><input type="checkbox" name="vegan" value="true"> Vegan</label></p>',
    '<p><label><input type="checkbox" name="agree" value="true" required> Agree</label></p>',
    SEND,
  ]);
});

test("what no input can hold is told in its place, and its label ends no comment", () => {
  const table = { type: "array", label: "a --> <b>", items: { type: "array" } };
  expect(linesOf({ table, any: { type: "object" } })).toEqual([
    "<!-- a --&gt; &lt;b&gt;: no input of a page can hold this; send it by a script. -->",
    "<!-- Any: no input of a page can hold this; send it by a script. -->",
    SEND,
  ]);
});

test("a pattern is given to the browser if it is anchored, because there it always is", () => {
  const definition = {
    zip: { type: "string", required: true, pattern: "^[0-9]{5}$" },
    part: { type: "string", required: true, pattern: "[0-9]{5}" },
  };
  expect(linesOf(definition)).toEqual([
    '<p><label>Zip <input name="zip" autocomplete="postal-code" pattern="^[0-9]{5}$" required></label></p>',
    '<p><label>Part <input name="part" required></label></p>',
    SEND,
  ]);
});

test("the code says in the form's language how many files a field takes, how large and of which kinds, as far as the server takes them", () => {
  const fileBounds = { maxFileBytes: 5_242_880, maxFiles: 4 };
  const lines = (language: string | null) =>
    formSnippet(
      parseDefinition({
        cv: { type: "file", required: true, label: "Your <CV>" },
        photos: { type: "file", accept: ["image/*", "application/pdf"], maxFiles: 9, maxBytes: 2_097_152 },
      }),
      { ...target, language, fileBounds },
    ).match(/<small>.*?<\/small><\/label>/g);
  expect(lines(null)).toEqual([
    "<small>Up to 5 MB: documents, pictures, text and tables</small></label>",
    "<small>Up to 4 files of 2 MB each: pictures, PDF</small></label>",
  ]);
  const german = wordingIn("de");
  expect(lines("de")).toEqual([
    `<small>${german.text("fileTakes", { size: "5 MB", kinds: german.text("kindsUsual") })}</small></label>`,
    `<small>${german.amount("filesTake", 4, { size: "2 MB", kinds: `${german.text("kindImage")}, PDF` })}</small></label>`,
  ]);
});

test("a form with files sends the files and not their names, and asks for the types and number that are taken", () => {
  const definition = {
    photos: { type: "file", required: true, accept: ["image/png", "image/jpeg"], maxFiles: 3 },
    plan: { type: "file", accept: ["application/pdf"] },
  };
  const action = '<form data-formsvc action="https://forms.example.com/f/fpk_x" method="post"';
  expect(formSnippet(parseDefinition(definition), target).split("\n")[1]).toBe(
    `${action} enctype="multipart/form-data">`,
  );
  expect(linesOf(definition)).toEqual([
    '<p><label>Photos <input type="file" name="photos" accept="image/png,image/jpeg" multiple required></label></p>',
    '<p><label>Plan (optional) <input type="file" name="plan" accept="application/pdf"></label></p>',
    SEND,
  ]);
  expect(formSnippet(parseDefinition({ name: { type: "string" } }), target).split("\n")[1]).toBe(
    `${action}>`,
  );
});

test.each([
  ["turnstile", "cf-turnstile", "https://challenges.cloudflare.com/turnstile/v0/api.js"],
  ["hcaptcha", "h-captcha", "https://js.hcaptcha.com/1/api.js"],
] as const)("the task of %s stands above the button, if its site key is known", (kind, mark, script) => {
  const linesWith = (siteKey: string | null): string[] =>
    formSnippet({}, { ...target, challenge: { kind, siteKey } })
      .split("\n")
      .slice(2, -1);
  expect(linesWith("0x4AAA_b-1")).toEqual([
    `  <script src="${script}" async defer></script>`,
    `  <div class="${mark}" data-sitekey="0x4AAA_b-1"></div>`,
    `  ${SEND}`,
  ]);
  expect(linesWith(null)).toEqual([`  ${SEND}`]);
});
