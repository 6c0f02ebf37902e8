import { NO_BRAND } from "../../src/foundation/brand.ts";
import * as fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { EndpointSettings } from "../../src/endpoints/endpoint.ts";
import { type AskedForm, pageForm } from "../../src/http/forms/form-fields.ts";
import { wordingIn } from "../../src/languages/wording.ts";
import { errorPage } from "../../src/http/forms/form-page.ts";
import { compileSchema, type UnknownFields } from "../../src/schemas/compile-schema.ts";
import type { SchemaDefinition } from "../../src/schemas/definition.ts";
import type { FieldDefinition } from "../../src/schemas/field-definition.ts";
import { coerceForm, type FormEntry } from "../../src/submissions/receive/coerce-form.ts";
import { readBody } from "../../src/spam/spam-post.ts";
import { sample } from "../schemas/definition-arbitrary.ts";
import type { Answer } from "../support/http-client.ts";
import { launchServer, startServer, type TestEndpoint, type TestServer } from "../support/test-server.ts";

const countries = Array.from({ length: 250 }, (_, index) => `Country number ${index}`);
const schema: SchemaDefinition = {
  name: { type: "string", required: true },
  country: { type: "string", enum: countries },
  topics: { type: "array", items: { type: "string", enum: ["music", "art", "food"] } },
  tags: { type: "array", items: { type: "string", maxLength: 9 } },
  address: {
    type: "object",
    properties: { city: { type: "string", required: true }, zip: { type: "string" } },
  },
  note: { type: "string" },
};

let server: TestServer;
let contact: TestEndpoint;

beforeAll(async () => {
  server = await launchServer();
  contact = await server.addEndpoint({ schema, settings: { unknownFields: "drop" } });
});
afterAll(() => server.stop());

type Entries = readonly FormEntry[];

const FILE_BOUNDS = { maxFileBytes: 10_485_760, maxFiles: 5 };

function post(endpoint: TestEndpoint, body: Entries | string, at = server): Promise<Answer> {
  return at.request({
    method: "POST",
    path: `/f/${endpoint.publishable}`,
    headers: {
      "content-type": "application/x-www-form-urlencoded",
      origin: "https://site.example",
    },
    body: typeof body === "string" ? body : new URLSearchParams(body.map((entry) => [...entry])).toString(),
  });
}

/** What the inputs of a page's form hold: `name=value`, and `name:option+option` of a choice. */
function inputsOf({ text }: Answer): string[] {
  const form = /<form[^]*<\/form>/.exec(text)?.[0] ?? "";
  const controls = form.matchAll(
    /<input ([^>]*)>|<select ([^>]*)>([^]*?)<\/select>|<textarea ([^>]*)>\n([^]*?)</g,
  );
  return [...controls].map(([, input, select, options = "", area, content]) => {
    const attributes = input ?? select ?? area ?? "";
    const name = /name="([^"]*)"/.exec(attributes)?.[1];
    if (select === undefined) return `${name}=${content ?? /value="([^"]*)"/.exec(attributes)?.[1]}`;
    const chosen = [...options.matchAll(/<option[^>]* selected>([^<]*)/g)].map(([, option]) => option);
    return `${name}:${chosen.join("+")}`;
  });
}

test("a choice that is sent a thousand times is asked once: the page stays near the size of one", async () => {
  const one = await post(contact, "country=x&");
  const many = await post(contact, "country=x&".repeat(1000));
  expect([one.status, many.status]).toEqual([400, 400]);
  expect(many.text.length).toBe(one.text.length);
  expect(many.text.match(/<select/g)).toHaveLength(1);
});

test("each field is asked once, of a list all values are kept, and what is not declared is left out unless a group counts by it", async () => {
  const answer = await post(contact, [
    ["note", "first"],
    ["note", "last"],
    ["note", ""],
    ["topics[]", "art"],
    ["topics[]", "food"],
    ["topics[]", "none of them"],
    ["tags", "red"],
    ["tags[1]", "green as grass"],
    ["address[zip]", "10115"],
    ["utm", "abc"],
    ["address[floor]", "3"],
    ["_unknown", "control"],
    ["_redirect", "/thanks"],
    ["_gotcha", ""],
  ]);
  expect(inputsOf(answer)).toEqual([
    "_redirect=/thanks",
    "_origin=https://site.example",
    "note=last",
    "topics:art+food",
    "tags=red",
    "tags=green as grass",
    "address[zip]=10115",
    "name=",
    "address[city]=",
    "address[floor]=3",
  ]);
});

test("a missing object is asked for by its members", async () => {
  const form = await server.addEndpoint({
    schema: {
      home: {
        type: "object",
        required: true,
        properties: { city: { type: "string" }, zip: { type: "string" } },
      },
    },
    settings: { unknownFields: "drop" },
  });
  const answer = await post(form, [["other", "1"]]);
  expect(inputsOf(answer)).toEqual(["_origin=https://site.example", "home[city]=", "home[zip]="]);
  expect(answer.text).toContain("<li>Home is required</li>");
});

test.each([
  ["kept", { unknownFields: "keep" }],
  ["set aside, as new endpoints do", {}],
] as const)(
  "up to a hundred undeclared inputs are repeated if they are %s; a form with more is not repeated",
  async (_, settings) => {
    const keep = await server.addEndpoint({ schema, settings });
    const others = (count: number): FormEntry[] =>
      Array.from({ length: count }, (_, index) => [
        `question ${index}`,
        `My answer is a sentence, number ${index}`,
      ]);
    const asked = await post(keep, others(100));
    expect(inputsOf(asked).filter((input) => input.startsWith("question"))).toHaveLength(100);
    const tooMany = await post(keep, others(101));
    expect(tooMany.text).not.toContain("<form");
    expect(tooMany.text).toContain("Back button");
    expect(tooMany.text).toContain("<li>Name is required</li>");
  },
);

test("if undeclared inputs are rejected, they are left out and not named", async () => {
  const strict = await server.addEndpoint({ schema, settings: { unknownFields: "reject" } });
  const answer = await post(strict, [
    ["name", "Ana"],
    ["utm<script>", "x"],
  ]);
  expect(answer.status).toBe(400);
  expect(answer.text).toContain("The form sent something that it does not ask for.");
  expect(answer.text).not.toContain("utm");
  expect(inputsOf(answer)).toContain("name=Ana");
});

test("a form whose repetition would take more than four times its body is not repeated, and the page says how to get it back", async () => {
  const quotes = await post(contact, `note=${'"'.repeat(60_000)}&country=x`);
  expect(quotes.text).toContain("Back button");
  expect(quotes.text).not.toContain("<form");
  expect(quotes.text).toContain("Country must be one of");
  expect(quotes.text.length).toBeLessThan(10_000);
  const plain = await post(contact, `note=${"it's &amp; ".repeat(5000)}&country=x`);
  expect(plain.text).toContain("<form");
});

test("401, 403 and 429 never repeat the form", async () => {
  const own = await startServer({ rateLimit: { publishable: { max: 3, windowSeconds: 60 } } });
  const form = await own.addEndpoint({ schema });
  const filled: FormEntry[] = [
    ["name", "Ana Ruiz"],
    ["_gotcha", "filled by a robot"],
  ];
  const spam = await post(form, filled, own);
  const secret = await post({ ...form, publishable: form.secret }, [["name", "Ana Ruiz"]], own);
  const unknown = await post({ ...form, publishable: `${form.publishable.slice(0, -1)}_` }, filled, own);
  await post(form, filled, own);
  await post(form, filled, own);
  const limited = await post(form, [["name", "Ana Ruiz"]], own);
  const answers = [spam, secret, unknown, limited];
  expect(answers.map(({ status }) => status)).toEqual([429, 403, 401, 429]);
  for (const { text } of answers) {
    expect(text).not.toMatch(/<form|Ana Ruiz/);
    expect(text).toContain("Back button");
  }
});

test("a long Origin or _redirect is not repeated", async () => {
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  const path = `/f/${contact.publishable}`;
  const origin = `https://${"a".repeat(9000)}.example`;
  const far = await server.request({
    method: "POST",
    path,
    headers: { ...headers, origin },
    body: "x=1",
  });
  expect(far.text.length).toBeLessThan(6000);
  expect(far.headers["content-security-policy"]?.length).toBeLessThan(500);
  const redirect = `/${"é".repeat(700)}`;
  const away = await post(contact, [
    ["name", "Ana"],
    ["_redirect", redirect],
  ]);
  expect([away.status, away.headers["location"]]).toEqual([200, undefined]);
});

/** The largest page that a schema makes of empty inputs with the problems that the post has. */
function plainPage(
  asked: AskedForm,
  entries: Entries,
  unknownFields: EndpointSettings["unknownFields"],
): string {
  const { definition, honeypots } = asked;
  const { fields } = readBody(coerceForm(entries, definition), honeypots, definition, null);
  const checked = compileSchema(definition, unknownFields).validate(fields);
  const empty = leavesOf(definition).map((name): FormEntry => [name, ""]);
  return errorPage({
    wording: wordingIn("en"),
    heading: "headingInvalid",
    sentence: "lookAgain",
    problem: "invalid",
    isSent: true,
    error: "Validation failed (400)",
    requestId: "x".repeat(64),
    backTo: "https://site.example",
    form: {
      ...pageForm(empty, asked, "details" in checked ? checked.details : {}, wordingIn("en")),
      hidden: [["_origin", "https://site.example"]],
    },
    brand: NO_BRAND,
  });
}

function leavesOf(fields: SchemaDefinition, within = ""): string[] {
  return Object.entries(fields).flatMap(([field, definition]: [string, FieldDefinition]) => {
    const name = within === "" ? field : `${within}[${field}]`;
    return definition.type === "object" && definition.properties !== undefined
      ? leavesOf(definition.properties, name)
      : [name];
  });
}

const ODD_TEXT = fc.oneof(
  fc.string({ maxLength: 5 }),
  fc.constantFrom("", "x", "on", "1", "two\r\nlines", "é🙂"),
  fc
    .tuple(fc.constantFrom('"', "&", "<", "'", "\u0001", "a", "\n"), fc.nat({ max: 400 }))
    .map(([char, count]) => char.repeat(count)),
);

const ANY_SUFFIX = fc.constantFrom("", "", "", "[]", "[0]", "[7]", "[x]", "[0][y]");

function entriesFor(definition: SchemaDefinition, suffix = ANY_SUFFIX): fc.Arbitrary<FormEntry[]> {
  const leaves = leavesOf(definition);
  const name = fc.tuple(
    leaves.length === 0 ? ODD_TEXT : fc.oneof(fc.constantFrom(...leaves), ODD_TEXT),
    suffix,
  );
  const entry = fc.tuple(
    name.map((parts) => parts.join("")),
    ODD_TEXT,
    fc.constantFrom(1, 1, 1, 30),
  );
  return fc
    .array(entry, { maxLength: 12 })
    .map((all) =>
      all.flatMap(([key, value, times]) => Array.from({ length: times }, (): FormEntry => [key, value])),
    );
}

/** A form writes its names in one way. */
const posts = fc
  .tuple(sample, fc.constantFrom("", "[]", "[x]"))
  .chain(([{ definition }, suffix]) =>
    fc.tuple(
      fc.constant(definition),
      entriesFor(definition, fc.constant(suffix)),
      fc.constantFrom("drop" as const, "keep" as const),
    ),
  );

test(
  "no answer to a form is larger than the plain page and four times its body",
  { timeout: 60_000 },
  async () => {
    const definitions = fc.sample(sample, { numRuns: 12, seed: 13 }).map(({ definition }) => definition);
    for (const [index, definition] of [schema, ...definitions].entries()) {
      const unknownFields = (["drop", "keep", "reject"] as const)[index % 3] ?? "drop";
      const form = await server.addEndpoint({ schema: definition, settings: { unknownFields } });
      const asked = {
        definition,
        unknownFields,
        honeypots: ["_gotcha", "_honeypot", "_honey", "botcheck"],
        isWhole: false,
        fileBounds: FILE_BOUNDS,
      };
      const bodies = entriesFor(definition).map((entries) => ({
        entries,
        body: new URLSearchParams(entries.map((entry) => [...entry])).toString().replaceAll("%22", '"'),
      }));
      await fc.assert(
        fc.asyncProperty(bodies, async ({ entries, body }) => {
          const answer = await post(form, body);
          const allowed =
            Buffer.byteLength(plainPage(asked, entries, unknownFields)) + 4 * Buffer.byteLength(body);
          expect(Buffer.byteLength(answer.text)).toBeLessThanOrEqual(allowed);
        }),
        { numRuns: 60 },
      );
    }
  },
);

test("a box that stays empty can be sent again from the page of a mistake", async () => {
  const form = await server.addEndpoint({
    schema: {
      name: { type: "string", required: true },
      paid: { type: "boolean", required: true },
      group: {
        type: "object",
        required: true,
        properties: { vegan: { type: "boolean", required: true } },
      },
    },
  });
  const wrong = await post(form, "paid=false&group[vegan]=unticked");
  expect(wrong.status).toBe(400);
  expect(inputsOf(wrong)).toEqual(
    expect.arrayContaining(["name=", "paid=false", "paid=on", "group[vegan]=unticked", "group[vegan]=on"]),
  );
  expect(wrong.text).not.toContain("checked");
});

type PostedForm = [SchemaDefinition, Entries, UnknownFields];

/** Whether it could be stored; then what the page of a mistake asks again is stored in the same way. */
function isSameAgain([definition, entries, unknownFields]: PostedForm): boolean {
  const outcome = (all: Entries) =>
    compileSchema(definition, unknownFields).validate(
      readBody(coerceForm(all, definition), [], definition, null).fields,
    );
  const sent = outcome(entries);
  if (!sent.ok) return false;
  for (const isWhole of [false, true]) {
    const asked = { definition, unknownFields, honeypots: [], isWhole, fileBounds: FILE_BOUNDS };
    const { fields, others } = pageForm(entries, asked, {}, wordingIn("en"));
    const again = fields.flatMap(({ name, values }) => values.map((value): FormEntry => [name, value]));
    expect(outcome([...again, ...others])).toEqual(sent);
  }
  return true;
}

test("what the page asks again is stored as what was sent", () => {
  let stored = 0;
  fc.assert(
    fc.property(posts, (post) => {
      stored += Number(isSameAgain(post));
    }),
    { numRuns: 1000 },
  );
  expect(stored).toBeGreaterThan(100);
});

test.each(["L[]", "L[x]", "L[M][x]", "L[M][]"])(
  "the page of a mistake sends %s again, because of which an optional group counts as sent",
  (name) => {
    const mark: FieldDefinition = { type: "string", default: "none" };
    const group: FieldDefinition = {
      type: "object",
      properties: { mark, M: { type: "object", properties: { mark } } },
    };
    for (const unknownFields of ["drop", "set-aside", "keep"] as const)
      expect(isSameAgain([{ L: group }, [[name, "1"]], unknownFields])).toBe(true);
    const { others } = pageForm(
      [["L[x]", "1"]],
      {
        definition: { L: group },
        unknownFields: "reject",
        honeypots: [],
        isWhole: true,
        fileBounds: FILE_BOUNDS,
      },
      {},
      wordingIn("en"),
    );
    expect(others).toEqual([]);
  },
);
