import type { SqliteDatabase } from "../database/sqlite/sqlite-database.ts";

/** What storing a post needs to know of its endpoint. */
interface FoundEndpoint {
  /** By which submissions name it. It has it for as long as it is there. */
  readonly number: number;
  readonly workspaceId: string;
}

/** Looks for endpoints inside a transaction of the caller's, for each once in a transaction. Undefined if it is gone. */
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
