import type { BatchStatement } from "../database/postgresql/batch-connection.ts";

/** An endpoint that cannot be deleted or moved until the transaction ends. */
export interface LockedEndpoint {
  readonly id: string;
  /** By which submissions name it. */
  readonly number: number;
  readonly workspace_id: string;
}

/** Locks those of these endpoints that are there. */
export const LOCK_ENDPOINTS: BatchStatement = {
  name: "lock_endpoints",
  text: `SELECT endpoint.id, endpoint.workspace_id, endpoint_number.number
    FROM endpoint JOIN endpoint_number ON endpoint_number.endpoint_id = endpoint.id
    WHERE endpoint.id = ANY($1::text[]) ORDER BY endpoint.id FOR KEY SHARE`,
};
