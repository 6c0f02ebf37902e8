import { sql } from "kysely";
import { all, type Steps, text } from "../../database/steps.ts";
import { LISTED, listParameter } from "../../database/list-parameter.ts";

/**
 * An SQL expression for the number by which submissions name their endpoint. The parameter is the endpoint's id; NULL if the endpoint is
 * deleted.
 */
export const NUMBER_OF_ENDPOINT = "(SELECT number FROM endpoint_number WHERE endpoint_id = ?)";

/** The number of an endpoint, as an expression of SQL. */
export function numberOfEndpoint(id: string) {
  return sql<number>`(SELECT number FROM endpoint_number WHERE endpoint_id = ${id})`;
}

/** The id of a selected submission's endpoint. */
export const idOfEndpoint = sql<string>`
  (SELECT endpoint_id FROM endpoint_number WHERE number = submission.endpoint_number)`;

/** An SQL query for the numbers of those endpoints that exist. The parameter is a JSON array of ids. */
export const NUMBERS_OF_ENDPOINTS = `SELECT number FROM endpoint_number WHERE endpoint_id IN ${LISTED}`;

/** The numbers of those of these endpoints that exist. */
export function* numbersOfEndpoints(ids: readonly string[]): Steps<number[]> {
  const rows = yield* all(text<{ number: number }>(NUMBERS_OF_ENDPOINTS, listParameter(ids)));
  return rows.map(({ number }) => number);
}
