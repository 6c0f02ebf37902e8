import type { Steps } from "../database/steps.ts";
import { readSchema } from "./endpoint-store.ts";
import type { Endpoint } from "./endpoint.ts";

/** The texts that replace the names of fields, by name. */
export type FieldLabels = Readonly<Record<string, string>>;

/** The labels of an endpoint's fields, by the fields' names; null if no field has one. */
export function* readLabels(endpoint: Endpoint): Steps<FieldLabels | null> {
  const labelled = Object.entries(yield* readSchema(endpoint)).flatMap(([name, { label }]) =>
    label === undefined ? [] : [[name, label] as const],
  );
  return labelled.length === 0 ? null : Object.fromEntries(labelled);
}
