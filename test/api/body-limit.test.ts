import { expect, test } from "vitest";
import { MAX_DEFINITION_BYTES } from "../../src/schemas/check-json.ts";
import { askWith, makeToken } from "../support/api-client.ts";
import { startServer } from "../support/test-server.ts";

/** @param bytes of its JSON */
function schemaOf(bytes: number): Record<string, object> {
  const schema: Record<string, { type: string; description: string }> = {};
  const size = (): number => Buffer.byteLength(JSON.stringify(schema));
  for (let field = 100; size() < bytes; field += 1) {
    schema[`f${field}`] = { type: "string", description: "" };
    // The next field needs room too.
    const room = bytes - size();
    schema[`f${field}`] = { type: "string", description: "x".repeat(room > 900 ? 500 : Math.min(room, 400)) };
  }
  return schema;
}

test("a schema of the largest size is taken over HTTP as at the command line, indented too, and one byte more is named", async () => {
  const server = await startServer();
  const form = await server.addEndpoint();
  const ask = askWith(server, await makeToken(server));
  const path = `/endpoints/${form.id}/schema`;
  const schema = schemaOf(MAX_DEFINITION_BYTES);
  expect(Buffer.byteLength(JSON.stringify(schema))).toBe(MAX_DEFINITION_BYTES);
  for (const indent of [undefined, 2, 8])
    expect((await ask("PUT", path, { body: JSON.stringify({ schema }, null, indent) })).status).toBe(200);
  expect((await ask("GET", path)).json).toEqual(schema);
  const larger = { ...schema, f100: { ...schema["f100"], default: "" } };
  const refused = await ask("PUT", path, { body: { schema: larger } });
  expect([refused.status, refused.json]).toMatchObject([400, { code: "schema_invalid" }]);
  expect(JSON.stringify(refused.json)).toContain(String(MAX_DEFINITION_BYTES));
  expect((await ask("GET", path)).json).toEqual(schema);
});

test("a larger body is refused with the limit that holds there, and nothing is changed", async () => {
  const server = await startServer();
  const form = await server.addEndpoint();
  const ask = askWith(server, await makeToken(server));
  const refused = await ask("PATCH", `/endpoints/${form.id}`, { body: "x".repeat(1_048_576) });
  expect([refused.status, refused.json]).toEqual([
    413,
    {
      error: "Payload too large",
      code: "payload_too_large",
      message: "The body is larger than the 262144 bytes that this server accepts.",
    },
  ]);
  const login = await ask("POST", "/login", { body: { client_name: "x".repeat(9000) } });
  expect([login.status, login.json["message"]]).toEqual([413, expect.stringContaining("8192 bytes")]);
  expect((await ask("GET", `/endpoints/${form.id}`)).json).toMatchObject({ endpoint: { name: "Contact" } });
});

test("where posts may be larger, so may bodies of the API", async () => {
  const server = await startServer({ server: { bodyLimitBytes: 524_288 } });
  const ask = askWith(server, await makeToken(server));
  const asked = { body: JSON.stringify({ name: "x", schema: {} }) + " ".repeat(400_000) };
  expect((await ask("POST", "/endpoints", asked)).status).not.toBe(413);
});
