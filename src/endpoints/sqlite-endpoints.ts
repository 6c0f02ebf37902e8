import type { SqliteDatabase } from "../database/sqlite/sqlite-database.ts";

/** Looks, inside a transaction of the caller's, whether endpoints are there. Each is looked up once in a transaction. */
export type EndpointLook = () => (endpointId: string) => boolean;

export function createEndpointLook(db: SqliteDatabase): EndpointLook {
  const select = db
    .prepare(
      "SELECT 1 FROM endpoint JOIN endpoint_number ON endpoint_number.endpoint_id = endpoint.id WHERE endpoint.id = ?",
    )
    .pluck();
  return () => {
    const known = new Map<string, boolean>();
    return (endpointId) => {
      const isThere = known.get(endpointId) ?? select.get(endpointId) !== undefined;
      known.set(endpointId, isThere);
      return isThere;
    };
  };
}
