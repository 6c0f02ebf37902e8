import { LOST_MS } from "../../src/database/live-servers.ts";
import type { Database } from "../../src/database/database.ts";
import { write } from "./engines.ts";

/**
 * Makes a killed server, which must be the one that was started first, count as lost at once: its last sign of life is moved into the past.
 */
export async function loseFirstServer(db: Database): Promise<void> {
  const first = "SELECT min(started_at) FROM live_server";
  await write(db, `UPDATE live_server SET seen_at = seen_at - ${LOST_MS} WHERE started_at = (${first})`);
}
