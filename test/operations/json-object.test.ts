import { expect, test } from "vitest";
import { z } from "zod";
import { createEndpoint } from "../../src/endpoints/create-endpoint.ts";
import { setSchema } from "../../src/endpoints/schema-operations.ts";
import { jsonObject } from "../../src/operations/json-object.ts";
import { exampleSchema } from "../support/example-schema.ts";
import { temporaryDatabase } from "../support/temporary-database.ts";
import { performOn } from "../support/terminal.ts";

const hostile = JSON.parse('{"__proto__":{"type":"string"},"name":{"type":"string"}}') as Record<
  string,
  unknown
>;

test("a member named __proto__ comes through as it is, and changes no prototype", () => {
  const { object } = z.strictObject({ object: jsonObject }).parse({ object: hostile });
  expect(Object.keys(object)).toEqual(["__proto__", "name"]);
  expect(Object.getPrototypeOf(object)).toBe(Object.prototype);
  expect(({} as Record<string, unknown>)["type"]).toBeUndefined();
});

test.each([
  ["a list", []],
  ["null", null],
  ["a text", "{}"],
  ["a number", 1],
])("%s is no object", (_, value) => {
  expect(jsonObject.safeParse(value).error?.issues.map(({ message }) => message)).toEqual([
    "expected an object",
  ]);
});

test("it is described as an object", () => {
  expect(z.toJSONSchema(jsonObject)).toMatchObject({ type: "object", additionalProperties: {} });
});

test("a schema with a field named __proto__ is refused, and not stored without it", async () => {
  const db = temporaryDatabase();
  const refused = { code: "schema_invalid", message: expect.stringContaining("__proto__") as string };
  const making = performOn(db, createEndpoint, { name: "Contact", schema: hostile });
  await expect(making).rejects.toMatchObject(refused);
  const { endpoint } = await performOn(db, createEndpoint, { name: "Contact", schema: exampleSchema });
  const setting = performOn(db, setSchema, { endpoint: endpoint.id, schema: hostile });
  await expect(setting).rejects.toMatchObject(refused);
});
