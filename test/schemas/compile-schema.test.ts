import { expect, test } from "vitest";
import { compileSchema } from "../../src/schemas/compile-schema.ts";
import { parseDefinition } from "../../src/schemas/definition.ts";
import { exampleSchema } from "../../src/schemas/example-schema.ts";

test("the dashboard's example schema is a valid definition and asks for name and e-mail", () => {
  const schema = compileSchema(parseDefinition(exampleSchema), "drop");
  expect(schema.validate({ name: "Ann", email: "ann@example.com", other: 1 })).toEqual({
    ok: true,
    data: { name: "Ann", email: "ann@example.com" },
  });
  expect(schema.validate({ email: "ann" })).toMatchObject({
    ok: false,
    details: {
      name: { issues: [{ code: "invalid_type", received: "undefined", path: ["name"] }], name: "ZodError" },
      email: { issues: [{ code: "invalid_string", validation: "email", path: ["email"] }], name: "ZodError" },
    },
  });
});
