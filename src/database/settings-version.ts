import { sql } from "kysely";
import { query } from "./database.ts";
import { run, type Steps } from "./steps.ts";

/**
 * A server sees by this version that another process changed settings it holds in memory: every change to an endpoint, schema,
 * key or plan raises the version in the same transaction, and so does a change of deliveries that their server must hear of.
 */
export function* raiseSettingsVersion(): Steps<void> {
  yield* run(query.updateTable("settings_version").set({ version: sql`version + 1` }));
}
