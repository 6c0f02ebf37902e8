import { FormsvcError } from "../../foundation/errors.ts";

/** Facts that a server states about itself. */
export interface ServerFacts {
  /** The version as PostgreSQL writes it in one number: 150018 is 15.18. */
  readonly version: number;
  readonly fsync: string;
  readonly synchronous_commit: string;
  readonly encoding: string;
  readonly is_standby: boolean;
  /** `on` if transactions of this connection can only read. */
  readonly reads_only: string;
}

/** The oldest release that the PostgreSQL project still maintains. */
const OLDEST_VERSION = 140_000;

export const FACTS_SQL = `SELECT current_setting('server_version_num')::int AS version,
  current_setting('fsync') AS fsync, current_setting('synchronous_commit') AS synchronous_commit,
  current_setting('server_encoding') AS encoding, pg_is_in_recovery() AS is_standby,
  current_setting('default_transaction_read_only') AS reads_only`;

/**
 * Refuses a server whose settings could lose posts that were acknowledged.
 *
 * @param shown the name of the database in the message. @throws database_unusable with what to change.
 */
export function checkServer(facts: ServerFacts, shown: string): void {
  const problem = findProblem(facts);
  if (problem !== null) throw new FormsvcError("database_unusable", `${shown}: ${problem}`);
}

function findProblem(facts: ServerFacts): string | null {
  const { version, fsync, synchronous_commit: commit, encoding } = facts;
  if (version < OLDEST_VERSION)
    return `PostgreSQL ${Math.floor(version / 10_000)} is too old; formsvc needs 14 or newer`;
  if (facts.is_standby) return "this server is a standby, which cannot be written; name the primary";
  if (facts.reads_only === "on")
    return "default_transaction_read_only is on for this user or database; set it to off";
  if (encoding !== "UTF8")
    return `the database has the encoding ${encoding}; make one with: CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0`;
  if (fsync !== "on")
    return "fsync is off, so a power cut may destroy everything; set fsync = on in postgresql.conf";
  if (commit === "off" || commit === "local")
    return `synchronous_commit is ${commit}, so an acknowledged post may be lost; set it to on`;
  return null;
}
