import { z } from "zod";

export type Json = Record<string, unknown>;

/** A list that our code does not change is one that clients may well send. */
function sayNothingOfReadonly({ jsonSchema }: { readonly jsonSchema: { readOnly?: unknown } }): void {
  delete jsonSchema.readOnly;
}

/** As JSON Schema 2020-12, the language of OpenAPI 3.1. */
export function jsonOf(type: z.ZodType, io: "input" | "output"): Json {
  const schema = z.toJSONSchema(type, { io, override: sayNothingOfReadonly }) as Json;
  delete schema["$schema"];
  return schema;
}
