import { sql } from "kysely";

/** Submissions name their endpoint by a number. In SQL, with the endpoint's id as parameter; NULL when it is gone. */
export const NUMBER_OF_ENDPOINT = "(SELECT number FROM endpoint_number WHERE endpoint_id = ?)";

/** The same as an expression. */
export function numberOfEndpoint(id: string) {
  return sql<number>`(SELECT number FROM endpoint_number WHERE endpoint_id = ${id})`;
}

/** The id of a selected submission's endpoint. */
export const idOfEndpoint = sql<string>`
  (SELECT endpoint_id FROM endpoint_number WHERE number = submission.endpoint_number)`;
