import type { SchemaDefinition } from "./definition.ts";

/** The contact form that a new endpoint starts from if no schema is given. */
export const exampleSchema: SchemaDefinition = {
  name: { type: "string", required: true },
  email: { type: "string", required: true, format: "email" },
  message: { type: "string" },
};
