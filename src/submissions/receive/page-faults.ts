import type { Database } from "../../database/database.ts";
import { all, run, type Steps, text } from "../../database/steps.ts";
import { LISTED, listParameter } from "../../database/list-parameter.ts";
import { BoundedMap } from "../../foundation/bounded-map.ts";
import type { Clock } from "../../foundation/clock.ts";
import { maintenanceFailed } from "../../foundation/events.ts";
import { type Finding, sound } from "../../foundation/finding.ts";
import { plainText } from "../../foundation/plain-text.ts";
import type { Log } from "../../foundation/log.ts";
import { WEEK_MS } from "../../foundation/time-units.ts";

/** `redirect`: it names a page after success to which nobody is led. `file_name`: it sends the name in place of the file. */
export type PageFaultKind = "redirect" | "file_name";

/** What a page with a form does wrong. */
export interface PageFault {
  readonly endpointId: string;
  readonly endpointName: string;
  /** The origin that it names, empty if it was no address of the web; or the field that should have had a file. */
  readonly what: string;
}

export type PageWatch = (endpointId: string, kind: PageFaultKind, what: string) => void;

/** Least time between two notes of one kind about one form: every post may be a reason for one. */
const NOTE_INTERVAL_MS = 3_600_000;
/** Last notes that are remembered; a stranger cannot make more forms than their owners have. */
const MAX_REMEMBERED = 1000;
/** A form that was mended is not reported any longer. */
const REPORTED_MS = WEEK_MS;
/** Forms that are reported at once. */
const MAX_REPORTED = 5;

/** Notes in the database, once an hour for each form and kind, what its page does wrong. */
export function createPageWatch(db: Database, clock: Clock, log: Log): PageWatch {
  const notedAt = new BoundedMap<string, number>(MAX_REMEMBERED);
  return (endpointId, kind, what) => {
    const now = clock.now();
    const about = `${kind} ${endpointId}`;
    // Also notes after the clock went back.
    if (Math.abs(now - (notedAt.get(about) ?? -Infinity)) < NOTE_INTERVAL_MS) return;
    notedAt.set(about, now);
    db.relaxedTransaction(() => run(text(NOTE_SQL, kind, what, now, endpointId))).catch((error: unknown) =>
      maintenanceFailed(log, error),
    );
  };
}

/** Does nothing if the endpoint is gone. */
const NOTE_SQL = `INSERT INTO page_fault (endpoint_id, kind, what, seen_at)
  SELECT id, ?, ?, ? FROM endpoint WHERE id = ?
  ON CONFLICT (endpoint_id, kind) DO UPDATE SET what = excluded.what, seen_at = excluded.seen_at`;

/** The forms of these workspaces whose pages did this lately, the last first. @param workspaceIds null is all */
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

/** Names the forms; strangers can cause it, so it is no problem of the machine. */
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
