import type { Database } from "../database/database.ts";
import type { Viewer } from "../sessions/session.ts";
import type { Counts } from "./layout.ts";

/** The numbers beside the sections. */
export async function readCounts(_db: Database, _viewer: Viewer): Promise<Counts> {
  return { unread: 0, held: 0 };
}
