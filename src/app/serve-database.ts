import type { ServedDatabase } from "../database/served-database.ts";
import { serveFile } from "../database/sqlite/served-file.ts";
import type { ServiceParts } from "./parts.ts";

/** What differs by engine, besides how posts are stored and messages are claimed. */
export async function serveDatabase({ db, config, clock, log }: ServiceParts): Promise<ServedDatabase> {
  return serveFile({ db, backup: config.backup, clock, log });
}
