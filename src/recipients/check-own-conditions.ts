import { isDeepStrictEqual } from "node:util";
import type { Steps } from "../database/steps.ts";
import type { Endpoint } from "../endpoints/endpoint.ts";
import { readSchema } from "../endpoints/endpoint-store.ts";
import { checkConditions, type Condition } from "../outbox/queue/conditions.ts";

/**
 * Checks the conditions of a recipient against the fields that its form has now, and returns them as they are stored.
 *
 * @param known the conditions that the recipient has. They may stay even if their field is gone, so that other settings can be changed.
 * @throws usage
 */
export function* checkOwnConditions(
  endpoint: Endpoint,
  given: readonly Condition[],
  known: readonly Condition[] = [],
): Steps<readonly Condition[]> {
  if (given.length === 0 || isDeepStrictEqual(given, known)) return given;
  return checkConditions(given, yield* readSchema(endpoint));
}
