/** The servers that work on one database. Each start of a server has an id of its own. */
export interface LiveServers {
  readonly self: string;
  /** The ids of all that live, this one included, sorted: as this server heard last. */
  list(): readonly string[];
}

/** A server that has not said for this time, by the database's clock, that it lives counts as lost. */
export const LOST_MS = 10_000;

/** A file has one server. */
export const ONLY_SERVER: LiveServers = { self: "only", list: () => ["only"] };

/** Whether this server is the one that does what only one of them should do. */
export function isFirst(servers: LiveServers): boolean {
  return servers.list()[0] === servers.self;
}
