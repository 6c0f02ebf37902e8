import type { Steps } from "../../database/steps.ts";
import { readSchema } from "../../endpoints/endpoint-store.ts";
import type { Endpoint } from "../../endpoints/endpoint.ts";
import { mailFieldsOf } from "../../schemas/mail-fields.ts";

/** The names of an endpoint's fields that hold an e-mail address, in the order of its schema. */
export function* listMailFields(endpoint: Endpoint): Steps<string[]> {
  return mailFieldsOf(yield* readSchema(endpoint));
}
