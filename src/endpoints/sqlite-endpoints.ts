import type { SqliteDatabase } from "../database/sqlite/sqlite-database.ts";

/** Looks, inside a transaction of the caller's, for the numbers of endpoints, each once in a transaction. Undefined if it is gone. */
export type EndpointLook = () => (endpointId: string) => number | undefined;

/** An endpoint has its number for as long as it is there. */
const NUMBER_SQL = "SELECT number FROM endpoint_number WHERE endpoint_id = ?";

export function createEndpointLook(db: SqliteDatabase): EndpointLook {
  const select = db.prepare(NUMBER_SQL).pluck();
  return () => {
    const known = new Map<string, number>();
    return (endpointId) => {
      const number = known.get(endpointId) ?? (select.get(endpointId) as number | undefined);
      if (number !== undefined) known.set(endpointId, number);
      return number;
    };
  };
}
