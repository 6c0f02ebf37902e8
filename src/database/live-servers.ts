/** The servers that work on one database. Each start of a server has an id of its own. */
export interface LiveServers {
  readonly self: string;
  /** The ids of all live servers, including this one, sorted, as this server last read them. */
  list(): readonly string[];
}

/** A server counts as lost if it has not said that it lives for this time, by the clock of the database. */
export const LOST_MS = 10_000;

/** A database file has only one server. */
export const ONLY_SERVER: LiveServers = { self: "only", list: () => ["only"] };

/** Whether this server does the work that only one server should do. */
export function isFirst(servers: LiveServers): boolean {
  return servers.list()[0] === servers.self;
}
