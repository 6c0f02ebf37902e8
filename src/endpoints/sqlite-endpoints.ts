import type { SqliteDatabase } from "../database/sqlite/sqlite-database.ts";

/** What it takes to store a post of an endpoint. */
interface FoundEndpoint {
  /** The number by which submissions name the endpoint. It does not change while the endpoint exists. */
  readonly number: number;
  readonly workspaceId: string;
}

/**
 * Makes a function that finds endpoints inside the caller's transaction. It reads each endpoint once, so make a new one for each
 * transaction. Undefined if the endpoint is gone.
 */
export type EndpointLook = () => (endpointId: string) => FoundEndpoint | undefined;

const FIND_SQL = `SELECT endpoint_number.number, endpoint.workspace_id AS workspaceId
  FROM endpoint JOIN endpoint_number ON endpoint_number.endpoint_id = endpoint.id WHERE endpoint.id = ?`;

export function createEndpointLook(db: SqliteDatabase): EndpointLook {
  const select = db.prepare(FIND_SQL);
  return () => {
    const known = new Map<string, FoundEndpoint>();
    return (endpointId) => {
      const endpoint = known.get(endpointId) ?? (select.get(endpointId) as FoundEndpoint | undefined);
      if (endpoint !== undefined) known.set(endpointId, endpoint);
      return endpoint;
    };
  };
}
