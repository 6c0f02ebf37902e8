import type { Database } from "../database/database.ts";
import { all, run, type Steps, text } from "../database/steps.ts";
import { BoundedMap } from "../foundation/bounded-map.ts";
import type { Clock } from "../foundation/clock.ts";
import { maintenanceFailed } from "../foundation/events.ts";
import { type Finding, sound } from "../foundation/finding.ts";
import { plainText } from "../foundation/plain-text.ts";
import type { Log } from "../foundation/log.ts";

/** A form that names a page after success to which nobody is led. */
export interface IgnoredRedirect {
  readonly endpointId: string;
  readonly endpointName: string;
  /** Of the page; empty if it was no address of the web. */
  readonly origin: string;
}

/** Least time between two notes about one form: every post may be a reason for one. */
const NOTE_INTERVAL_MS = 3_600_000;
/** Forms whose last note is remembered; a stranger cannot make more forms than their owners have. */
const MAX_REMEMBERED = 1000;
/** A form that was mended is not told of any longer. */
const TOLD_MS = 7 * 86_400_000;
/** Forms that are told of at once. */
const MAX_TOLD = 5;

/** Notes in the database, once an hour for each form, that its `_redirect` was ignored. */
export function createRedirectWatch(
  db: Database,
  clock: Clock,
  log: Log,
): (endpointId: string, origin: string) => void {
  const notedAt = new BoundedMap<string, number>(MAX_REMEMBERED);
  return (endpointId, origin) => {
    const now = clock.now();
    // Also notes after the clock went back.
    if (Math.abs(now - (notedAt.get(endpointId) ?? -Infinity)) < NOTE_INTERVAL_MS) return;
    notedAt.set(endpointId, now);
    db.relaxedTransaction(() => run(text(NOTE_SQL, origin, now, endpointId))).catch((error: unknown) =>
      maintenanceFailed(log, error),
    );
  };
}

/** Does nothing if the endpoint is gone. */
const NOTE_SQL = `INSERT INTO ignored_redirect (endpoint_id, origin, seen_at)
  SELECT id, ?, ? FROM endpoint WHERE id = ?
  ON CONFLICT (endpoint_id) DO UPDATE SET origin = excluded.origin, seen_at = excluded.seen_at`;

/** The forms of these workspaces that named such a page lately, the last first. @param workspaceIds null is all */
export function* listIgnoredRedirects(
  workspaceIds: readonly string[] | null,
  now: number,
): Steps<IgnoredRedirect[]> {
  const rows = yield* all(
    text<{ id: string; name: string; origin: string }>(
      workspaceIds === null ? LIST_SQL("") : LIST_SQL(OF_WORKSPACES),
      now - TOLD_MS,
      ...(workspaceIds === null ? [] : [JSON.stringify(workspaceIds)]),
      MAX_TOLD,
    ),
  );
  return rows.map(({ id, name, origin }) => ({ endpointId: id, endpointName: name, origin }));
}

const OF_WORKSPACES = "AND endpoint.workspace_id IN (SELECT value FROM json_each(?))";
const LIST_SQL = (condition: string): string => `SELECT endpoint.id, endpoint.name, origin
  FROM ignored_redirect JOIN endpoint ON endpoint.id = endpoint_id
  WHERE seen_at >= ? ${condition} ORDER BY seen_at DESC, endpoint.id LIMIT ?`;

/** Names the forms; strangers can cause it, so it is no problem of the machine. */
export function* checkIgnoredRedirects(now: number): Steps<Finding> {
  const found = yield* listIgnoredRedirects(null, now);
  if (found.length === 0) return sound("forms.redirects", "every form leads to the page that it names");
  const named = found.map(
    ({ endpointId, endpointName, origin }) =>
      `${plainText(endpointName)} (${endpointId}) to ${origin === "" ? "what is no address" : plainText(origin)}`,
  );
  return sound(
    "forms.redirects",
    `a _redirect is ignored, because it leads to another site: ${named.join("; ")}`,
  );
}
