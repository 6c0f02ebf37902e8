import { isDeepStrictEqual } from "node:util";
import type { Steps } from "../database/steps.ts";
import type { Endpoint } from "../endpoints/endpoint.ts";
import { readSchema } from "../endpoints/endpoint-store.ts";
import { checkConditions, type Condition } from "../outbox/queue/conditions.ts";

/**
 * The conditions of a recipient in the form in which they are stored, for the fields that its form has now.
 *
 * @param known those that it has: they may stay even if a field is gone, so that another setting can be changed
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
