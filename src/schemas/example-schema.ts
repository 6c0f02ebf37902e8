import type { SchemaDefinition } from "./definition.ts";

/** The contact form that the specification's dashboard starts from. */
export const exampleSchema: SchemaDefinition = {
  name: { type: "string", required: true },
  email: { type: "string", required: true, format: "email" },
  message: { type: "string" },
};
