import type { Steps } from "../database/steps.ts";
import { readSchema } from "./endpoint-store.ts";
import type { Endpoint } from "./endpoint.ts";

/** What stands in place of fields' names. */
export type FieldLabels = Readonly<Record<string, string>>;

/** The labels of an endpoint's fields that have one, by their names; null if none has. */
export function* readLabels(endpoint: Endpoint): Steps<FieldLabels | null> {
  const labelled = Object.entries(yield* readSchema(endpoint)).flatMap(([name, { label }]) =>
    label === undefined ? [] : [[name, label] as const],
  );
  return labelled.length === 0 ? null : Object.fromEntries(labelled);
}
