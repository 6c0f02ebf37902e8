import type { SchemaDefinition } from "./definition.ts";

/** A plain contact form, for tests and benchmarks. */
export const exampleSchema: SchemaDefinition = {
  name: { type: "string", required: true },
  email: { type: "string", required: true, format: "email" },
  message: { type: "string" },
};
