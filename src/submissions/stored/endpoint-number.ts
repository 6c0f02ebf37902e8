import { sql } from "kysely";
import { all, type Steps, text } from "../../database/steps.ts";
import { LISTED, listParameter } from "../../database/list-parameter.ts";

/** Submissions name their endpoint by a number. In SQL, with the endpoint's id as parameter; NULL when it is gone. */
export const NUMBER_OF_ENDPOINT = "(SELECT number FROM endpoint_number WHERE endpoint_id = ?)";

/** The number of an endpoint, as an expression of SQL. */
export function numberOfEndpoint(id: string) {
  return sql<number>`(SELECT number FROM endpoint_number WHERE endpoint_id = ${id})`;
}

/** The id of a selected submission's endpoint. */
export const idOfEndpoint = sql<string>`
  (SELECT endpoint_id FROM endpoint_number WHERE number = submission.endpoint_number)`;

/** The numbers of those of the endpoints that exist. In SQL, with a JSON array of their ids as parameter. */
export const NUMBERS_OF_ENDPOINTS = `SELECT number FROM endpoint_number WHERE endpoint_id IN ${LISTED}`;

/** The numbers of these endpoints. */
export function* numbersOfEndpoints(ids: readonly string[]): Steps<number[]> {
  const rows = yield* all(text<{ number: number }>(NUMBERS_OF_ENDPOINTS, listParameter(ids)));
  return rows.map(({ number }) => number);
}
