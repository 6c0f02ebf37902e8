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
  expect(text).toMatch(/<legend dir="auto">Address<\/legend>\s<div><label for="i4">city <span/);
  // Who fills in nothing of a group that may stay empty is not asked for a part of it.
  expect(text).toMatch(/name="home\[city\]" value/);
  expect(text).toMatch(/<label for="i5">by<\/label><input [^>]*name="paid\[by\]" required/);
});

const TABLE = { type: "array", required: true, items: { type: "array" } } as const;

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
  ["one of them in a group", { type: "object", properties: { table: TABLE } }, false],
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
