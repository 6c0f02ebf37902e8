/** The servers that work on one database. Each start of a server has an id of its own. */
export interface LiveServers {
  readonly self: string;
  /** The ids of all that live, this one included, sorted: as this server heard last. */
  list(): readonly string[];
}

/** A server counts as lost when it has not said for this time that it lives, by the database's clock. */
export const LOST_MS = 10_000;

/** A file has one server. */
export const ONLY_SERVER: LiveServers = { self: "only", list: () => ["only"] };

/** Whether this server is the one that does what only one of them should do. */
export function isFirst(servers: LiveServers): boolean {
  return servers.list()[0] === servers.self;
}
