import type { Database } from "../../database/database.ts";
import { all, run, type Steps, text } from "../../database/steps.ts";
import { LISTED, listParameter } from "../../database/list-parameter.ts";
import { BoundedMap } from "../../foundation/bounded-map.ts";
import type { Clock } from "../../foundation/clock.ts";
import { maintenanceFailed } from "../../foundation/events.ts";
import { type Finding, sound } from "../../foundation/finding.ts";
import { plainText } from "../../foundation/plain-text.ts";
import type { Log } from "../../foundation/log.ts";
import { WEEK_MS, HOUR_MS } from "../../foundation/time-units.ts";

/**
 * `redirect`: the page names a page to go to after success, and the server ignores it. `file_name`: the page sends the name of a file
 * instead of the file.
 */
export type PageFaultKind = "redirect" | "file_name";

/** A mistake in a page with a form. */
export interface PageFault {
  readonly endpointId: string;
  readonly endpointName: string;
  /** For `redirect` the origin that the page names, empty if it is not a web address; for `file_name` the field that should have a file. */
  readonly what: string;
}

export type PageWatch = (endpointId: string, kind: PageFaultKind, what: string) => void;

/** The shortest time between two notes of one kind about one form, because every post may cause one. */
const NOTE_INTERVAL_MS = HOUR_MS;
/** The largest number of notes that are remembered. A stranger cannot use it up, because owners decide how many forms there are. */
const MAX_REMEMBERED = 1000;
/** A fault is reported for this time after it was last seen. */
const REPORTED_MS = WEEK_MS;
/** The largest number of forms that are reported at once. */
const MAX_REPORTED = 5;

/** Stores faults of pages with forms, at most once an hour for each form and kind. */
export function createPageWatch(db: Database, clock: Clock, log: Log): PageWatch {
  const notedAt = new BoundedMap<string, number>(MAX_REMEMBERED);
  return (endpointId, kind, what) => {
    const now = clock.now();
    const about = `${kind} ${endpointId}`;
    // The absolute value, so that notes go on after the clock was set back.
    if (Math.abs(now - (notedAt.get(about) ?? -Infinity)) < NOTE_INTERVAL_MS) return;
    notedAt.set(about, now);
    db.relaxedTransaction(() => run(text(NOTE_SQL, kind, what, now, endpointId))).catch((error: unknown) =>
      maintenanceFailed(log, error),
    );
  };
}

/** Changes nothing if the endpoint was deleted. */
const NOTE_SQL = `INSERT INTO page_fault (endpoint_id, kind, what, seen_at)
  SELECT id, ?, ?, ? FROM endpoint WHERE id = ?
  ON CONFLICT (endpoint_id, kind) DO UPDATE SET what = excluded.what, seen_at = excluded.seen_at`;

/**
 * Lists the forms of these workspaces whose pages had this fault lately, the latest first. @param workspaceIds null means all workspaces
 */
export function* listPageFaults(
  kind: PageFaultKind,
  workspaceIds: readonly string[] | null,
  now: number,
): Steps<PageFault[]> {
  const rows = yield* all(
    text<{ id: string; name: string; what: string }>(
      workspaceIds === null ? LIST_SQL("") : LIST_SQL(OF_WORKSPACES),
      kind,
      now - REPORTED_MS,
      ...(workspaceIds === null ? [] : [listParameter(workspaceIds)]),
      MAX_REPORTED,
    ),
  );
  return rows.map(({ id, name, what }) => ({ endpointId: id, endpointName: name, what }));
}

const OF_WORKSPACES = `AND endpoint.workspace_id IN ${LISTED}`;
const LIST_SQL = (condition: string): string => `SELECT endpoint.id, endpoint.name, what
  FROM page_fault JOIN endpoint ON endpoint.id = endpoint_id
  WHERE kind = ? AND seen_at >= ? ${condition} ORDER BY seen_at DESC, endpoint.id LIMIT ?`;

/** Names the forms. The finding is sound, because strangers can cause it and the machine has no problem. */
export function* checkIgnoredRedirects(now: number): Steps<Finding> {
  const found = yield* listPageFaults("redirect", null, now);
  if (found.length === 0) return sound("forms.redirects", "every form leads to the page that it names");
  const named = found.map(
    ({ endpointId, endpointName, what }) =>
      `${plainText(endpointName)} (${endpointId}) to ${what === "" ? "what is no address" : plainText(what)}`,
  );
  return sound(
    "forms.redirects",
    `a _redirect is ignored, because it leads to another site: ${named.join("; ")}`,
  );
}
