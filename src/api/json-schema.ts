import { z } from "zod";

export type Json = Record<string, unknown>;

/** Removes `readOnly`. Our types are read-only so that our code does not change a list; clients may send the list all the same. */
function sayNothingOfReadonly({ jsonSchema }: { readonly jsonSchema: { readOnly?: unknown } }): void {
  delete jsonSchema.readOnly;
}

/** A type as JSON Schema 2020-12, the language of OpenAPI 3.1. */
export function jsonOf(type: z.ZodType, io: "input" | "output"): Json {
  const schema = z.toJSONSchema(type, { io, override: sayNothingOfReadonly }) as Json;
  delete schema["$schema"];
  return schema;
}
