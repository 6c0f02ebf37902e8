import type { Steps } from "../../database/steps.ts";
import { readSchema } from "../../endpoints/endpoint-store.ts";
import type { Endpoint } from "../../endpoints/endpoint.ts";

/** The names of an endpoint's fields that hold an e-mail address, in the order of its schema. */
export function* listMailFields(endpoint: Endpoint): Steps<string[]> {
  return mailFieldsOf(yield* readSchema(endpoint));
}

type Fields = Readonly<Record<string, { readonly type: string; readonly format?: unknown }>>;

/** The names of the fields that hold an e-mail address, in their order. */
export function mailFieldsOf(schema: Fields): string[] {
  return Object.entries(schema).flatMap(([name, field]) =>
    field.type === "string" && field.format === "email" ? [name] : [],
  );
}
