import type { BatchStatement } from "../database/postgresql/batch-connection.ts";

/** An endpoint that cannot be deleted or moved until the transaction ends. */
export interface LockedEndpoint {
  readonly id: string;
  /** The number by which submissions name the endpoint. */
  readonly number: number;
  readonly workspace_id: string;
}

/** Locks the endpoints with these ids, as far as they exist. */
export const LOCK_ENDPOINTS: BatchStatement = {
  name: "lock_endpoints",
  text: `SELECT endpoint.id, endpoint.workspace_id, endpoint_number.number
    FROM endpoint JOIN endpoint_number ON endpoint_number.endpoint_id = endpoint.id
    WHERE endpoint.id = ANY($1::text[]) ORDER BY endpoint.id FOR KEY SHARE`,
};
