import { sql } from "kysely";
import { query } from "./database.ts";
import { run, type Steps } from "./steps.ts";

/**
 * Raises the version by which a server notices that another process changed settings that it holds in memory. Every change to an endpoint,
 * schema, key or plan raises it in the same transaction, and so does a change of deliveries that their server must notice.
 */
export function* raiseSettingsVersion(): Steps<void> {
  yield* run(query.updateTable("settings_version").set({ version: sql`version + 1` }));
}
