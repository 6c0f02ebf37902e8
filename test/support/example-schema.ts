import type { SchemaDefinition } from "../../src/schemas/definition.ts";

/** A plain contact form, which most tests and benchmarks take. */
export const exampleSchema: SchemaDefinition = {
  name: { type: "string", required: true },
  email: { type: "string", required: true, format: "email" },
  message: { type: "string" },
};
