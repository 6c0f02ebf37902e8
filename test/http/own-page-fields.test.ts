import { expect, test } from "vitest";
import { createEndpoint } from "../../src/endpoints/create-endpoint.ts";
import { setEndpoint } from "../../src/endpoints/endpoint-operations.ts";
import { NO_PAGE } from "../../src/endpoints/own-page.ts";
import { setSchema } from "../../src/endpoints/schema-operations.ts";
import type { SchemaDefinition } from "../../src/schemas/definition.ts";
import type { FieldDefinition } from "../../src/schemas/field-definition.ts";
import { performerOn } from "../support/forms-world.ts";
import { startServer } from "../support/test-server.ts";

async function world(schema: SchemaDefinition) {
  const server = await startServer();
  const endpoint = await server.addEndpoint({ schema, settings: { page: { ...NO_PAGE, isOn: true } } });
  const path = `/p/${endpoint.id}`;
  const headers = { "content-type": "application/x-www-form-urlencoded", origin: server.url };
  const send = (body: string) => server.request({ method: "POST", path, headers, body });
  return { server, endpoint, path, send };
}

test("what may stay empty is marked, several choices are boxes, and a group has its name above its inputs", async () => {
  const days = { type: "array", label: "Days" } as const;
  const { server, path } = await world({
    name: { type: "string", label: "Name", required: true },
    notes: { type: "string", label: "Wishes", maxLength: 201 },
    few: { ...days, required: true, items: { type: "string", enum: ["Fri", "S at", ""] } },
    many: { ...days, items: { type: "string", enum: Array.from({ length: 13 }, (_, day) => `d${day}`) } },
    home: { type: "object", label: "Address", properties: { city: { type: "string", required: true } } },
    paid: { type: "object", required: true, properties: { by: { type: "string", required: true } } },
  });
  const { text } = await server.request({ method: "GET", path, headers: { "accept-language": "de" } });
  expect(text).toContain('<label for="i0">Name</label>');
  expect(text).toContain(
    '<label for="i1">Wishes <span class="optional">(freiwillig)</span></label><textarea',
  );
  expect(text.match(/type="checkbox" name="few"/g)).toHaveLength(2);
  expect(text).toContain('name="few" id="i2-1" value="S at"><label class="check" for="i2-1">S at</label>');
  expect(text).toContain('<select multiple id="i3" name="many">');
  expect(text).toMatch(
    /<legend dir="auto">Address <span class="optional">\(freiwillig\)<\/span><\/legend>\s<div><label for="i4">City<\/label>/,
  );
  // Who fills in nothing of a group that may stay empty is not asked for a part of it.
  expect(text).toMatch(/name="home\[city\]" value/);
  expect(text).toMatch(/<legend dir="auto">Paid<\/legend>/);
  expect(text).toMatch(/<label for="i5">By<\/label><input [^>]*name="paid\[by\]" required/);
});

const TABLE = { type: "array", required: true, items: { type: "array" } } as const;
const ROWS_WITH_ROWS = {
  type: "array",
  items: { type: "object", properties: { name: { type: "string" }, rows: TABLE } },
} as const;

test.each<[string, FieldDefinition, boolean]>([
  ["a list of lists", TABLE, false],
  ["a list of lists that may stay empty", { ...TABLE, required: false }, true],
  ["a list of lists with a value of its own", { ...TABLE, default: [] }, true],
  ["a group whose members have no names", { type: "object", required: true }, false],
  ["a list of such groups", { ...TABLE, items: { type: "object" } }, false],
  ["rows with rows", { ...TABLE, items: { type: "object", properties: { rows: TABLE } } }, false],
  [
    "a list of groups",
    { ...TABLE, items: { type: "object", properties: { name: { type: "string" } } } },
    true,
  ],
  ["one of them in a group", { type: "object", required: true, properties: { table: TABLE } }, false],
  ["one of them in a group that may stay empty", { type: "object", properties: { table: TABLE } }, true],
  ["rows with rows that may stay empty", ROWS_WITH_ROWS, true],
])("%s that nobody could send from the page does not come onto one", async (_name, field, isTaken) => {
  const { server, endpoint } = await world({ name: { type: "string" } });
  const perform = performerOn(server.owner);
  const schema = { name: { type: "string" }, table: field };
  const saved = perform(setSchema, { endpoint: endpoint.id, schema });
  const made = perform(createEndpoint, { name: "New", schema, page: "on" });
  const outcomes = await Promise.allSettled([saved, made]);
  expect(outcomes.map(({ status }) => status === "fulfilled")).toEqual([isTaken, isTaken]);
  await perform(setEndpoint, { endpoint: endpoint.id, page: "off" });
  await perform(setSchema, { endpoint: endpoint.id, schema });
  const offered = perform(setEndpoint, { endpoint: endpoint.id, page: "on" });
  if (isTaken) await offered;
  else await expect(offered).rejects.toThrow('cannot ask for "table", which has to be sent');
});

test("a group that may stay empty is not asked for if a part that it needs has no input, and the form is sent without it", async () => {
  const name = { type: "string" } as const;
  const { server, path, send } = await world({
    name: { ...name, required: true },
    plan: { type: "object", properties: { name, news: { type: "boolean", default: true }, table: TABLE } },
    list: ROWS_WITH_ROWS,
    me: {
      type: "object",
      required: true,
      properties: { name, plan: { type: "object", properties: { name, table: TABLE } } },
    },
    table: { ...TABLE, required: false },
  });
  const { text } = await server.request({ method: "GET", path });
  const names = [...text.matchAll(/<(?:input|textarea)[^>]* name="([^"]*)"/g)].map(([, each = ""]) => each);
  expect(names.filter((each) => /^(?:name|plan|list|me|table)/.test(each))).toEqual(["name", "me[name]"]);
  expect((await send("name=Ada&me[name]=Bo")).status).toBe(200);
  expect(server.stored()).toEqual([{ name: "Ada", me: { name: "Bo" } }]);
});

test("a yes or no that must be answered takes a no, also what is yes by itself; a consent does not", async () => {
  const { server, path, send } = await world({
    paid: { type: "boolean", required: true },
    news: { type: "boolean", default: true },
    agree: { type: "boolean", required: true, enum: [true] },
  });
  const { text } = await server.request({ method: "GET", path });
  expect(text).toMatch(/name="paid" value="false"><input type="checkbox" value="on" id="i0" name="paid"></);
  expect(text).toMatch(/name="news" value="false"><input [^>]*name="news" checked></);
  expect(text).toMatch(/<div><input type="checkbox" value="on" id="i2" name="agree" required></);
  expect((await send("paid=false&news=false")).status).toBe(400);
  const again = await send("paid=false&paid=on&news=false");
  expect(again.text).toMatch(/name="paid" checked></);
  expect(again.text).toMatch(/name="news"><label/);
  expect((await send("paid=false&news=false&agree=on")).status).toBe(200);
  expect(server.stored()).toEqual([{ paid: false, news: false, agree: true }]);
});

const VEGAN = {
  name: { type: "string", required: true },
  vegan: { type: "boolean", required: true },
} as const satisfies SchemaDefinition;

test("a yes or no in a group or row takes a no once the rest is filled in, and alone fills in nothing", async () => {
  const { server, path, send } = await world({
    me: { type: "object", required: true, properties: VEGAN },
    partner: { type: "object", properties: VEGAN },
    guests: { type: "array", required: true, items: { type: "object", properties: VEGAN } },
  });
  const { text } = await server.request({ method: "GET", path });
  expect(
    text.match(/ value="unticked"><input type="checkbox" value="on" id="i\d+" name="[^"]*vegan\]">/g),
  ).toHaveLength(5);
  const boxes = [...text.matchAll(/name="([^"]*)" value="unticked"/g)].map(([, name]) => `${name}=unticked`);
  expect(boxes).toHaveLength(5);
  const empty = boxes.join("&");
  expect((await send(`${empty}&me[name]=Ada`)).text).toContain("Guests is required");
  const again = await send(`${empty}&me[vegan]=on&guests[1][name]=Eve&guests[1][vegan]=on`);
  expect(again.text).toContain("Name (Me) is required");
  expect(again.text).toMatch(/name="me\[vegan\]" checked></);
  expect(again.text).toMatch(/name="guests\[0\]\[vegan\]" checked></);
  expect(
    (await send(`${empty}&me[name]=Ada&guests[1][name]=Eve&guests[2][vegan]=on&guests[2][name]=unticked`))
      .status,
  ).toBe(200);
  expect((await send(`${empty}&me[name]=Ada&partner[vegan]=on&guests[0][name]=Eve`)).text).toContain(
    "Name (Partner) is required",
  );
  expect((await send(`${empty}&me[name]=Ada&partner[name]=Bo&guests[0][name]=Eve`)).status).toBe(200);
  const [ada, eve] = [
    { name: "Ada", vegan: false },
    { name: "Eve", vegan: false },
  ];
  expect(server.stored()).toEqual([
    { me: ada, guests: [eve, { name: "unticked", vegan: true }] },
    { me: ada, partner: { name: "Bo", vegan: false }, guests: [eve] },
  ]);
});

test("a yes by itself is ticked in a group that has to be filled in, and empty in one that may stay empty", async () => {
  const news = { type: "boolean", default: true } as const;
  const { server, path, send } = await world({
    me: { type: "object", required: true, properties: { news } },
    partner: { type: "object", properties: { name: { type: "string" }, news } },
  });
  const { text } = await server.request({ method: "GET", path });
  expect(text).toMatch(/name="me\[news\]" checked></);
  expect(text).toMatch(/name="partner\[news\]"></);
  await send("me[news]=unticked&partner[news]=unticked");
  await send("me[news]=unticked&me[news]=on&partner[name]=Bo&partner[news]=unticked");
  expect(server.stored()).toEqual([
    { me: { news: false } },
    { me: { news: true }, partner: { name: "Bo", news: false } },
  ]);
});

test("a group in a row, and groups of one label, are asked for and marked each by itself", async () => {
  const home = {
    type: "object",
    label: "Home",
    properties: { city: { type: "string", required: true } },
  } as const;
  const { server, path } = await world({
    first: home,
    second: { ...home, required: true },
    guests: {
      type: "array",
      required: true,
      maxItems: 2,
      items: { type: "object", properties: { name: { type: "string", required: true }, home } },
    },
  });
  const { text } = await server.request({ method: "GET", path });
  const legends = [...text.matchAll(/<legend dir="auto">([^]*?)<\/legend>/g)].map(([, legend = ""]) =>
    legend.replaceAll(/<[^>]*>/g, ""),
  );
  expect(legends).toEqual(["Home (optional)", "Home", "Guests 1", "Guests 2 (optional)"]);
  const asked = [...text.matchAll(/name="([^"]*)" required/g)].map(([, name]) => name);
  expect(asked).toEqual(["second[city]", "guests[0][name]"]);
});

test("a field for files says which kinds and sizes it takes, in the visitor's language, and is described by it", async () => {
  const { server, path } = await world({
    cv: {
      type: "file",
      required: true,
      accept: ["application/pdf", ".DOCX", "image/*", "image/jpeg"],
      maxBytes: 2_097_152,
    },
    photos: { type: "file", accept: ["image/*"], maxFiles: 3 },
    many: { type: "file", maxFiles: 100, maxBytes: 1_073_741_824 },
  });
  const ask = async (language: string) =>
    (await server.request({ method: "GET", path, headers: { "accept-language": language } })).text;
  const hints = (text: string) =>
    [...text.matchAll(/<p class="hint" id="i\d-hint">([^<]*)</g)].map(([, hint]) => hint);
  const text = await ask("en");
  expect(hints(text)).toEqual([
    "Up to 2 MB: pictures, PDF, DOCX, JPG",
    "Up to 3 files of 10 MB each: pictures",
    "Up to 5 files of 10 MB each: documents, pictures, text and tables",
  ]);
  expect(text).toMatch(/<input type="file" id="i0" name="cv" required aria-describedby="i0-hint"/);
  expect(hints(await ask("de"))[0]).toBe("Bis 2 MB: Bilder, PDF, DOCX, JPG");
  expect(hints(await ask("pl"))[1]).toBe("Do 3 plików, każdy do 10 MB: obrazy");
});
