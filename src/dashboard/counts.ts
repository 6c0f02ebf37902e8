import type { Database } from "../database/database.ts";
import type { Viewer } from "../sessions/session.ts";
import { findSubmissions } from "../submissions/find/browse-submissions.ts";
import { countViewableHeld } from "../submissions/held/held-health.ts";
import { listOwnInvitations } from "../workspaces/invitation-store.ts";
import { listClosed } from "../workspaces/standing.ts";
import { everyViewable } from "./inbox/inbox-filter.ts";
import { type Counts, MAX_COUNT, SECTION_ACCESS } from "./kit/layout.ts";

/**
 * The number of the newest submissions among which unread ones are counted. Each page needs the count, and nobody cares for a larger one.
 */
const MAX_LOOKED = 500;

/** Reads the counts next to the sections, for the person who is signed in. */
export async function readCounts(db: Database, viewer: Viewer, now: number): Promise<Counts> {
  const every = await db.read(() => everyViewable(viewer));
  const filter = { ...every, unreadBy: viewer.accountId };
  const request = { filter, direction: "older", cursor: null, wanted: MAX_COUNT + 1 } as const;
  const { ids } = await findSubmissions(db, request, MAX_LOOKED);
  const held = await db.read(() => countViewableHeld(viewer));
  const invitations = (await db.read(() => listOwnInvitations(viewer.accountId, now))).length;
  const closed = await db.read(() => listClosed(viewer, SECTION_ACCESS));
  return { unread: ids.length, held, invitations, closed };
}
