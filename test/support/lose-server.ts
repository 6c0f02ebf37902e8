import { LOST_MS } from "../../src/database/live-servers.ts";
import type { Database } from "../../src/database/database.ts";
import { write } from "./engines.ts";

/** The server that was started first and killed counts as lost at once: it was last heard of ten seconds earlier than it was. */
export async function loseFirstServer(db: Database): Promise<void> {
  const first = "SELECT min(started_at) FROM live_server";
  await write(db, `UPDATE live_server SET seen_at = seen_at - ${LOST_MS} WHERE started_at = (${first})`);
}
