import { all, first, run, type Steps, text } from "../database/steps.ts";

/** The files that came through the publishable keys of a form in a day. */
export interface FormDay {
  /** The UTC day as `YYYY-MM-DD`. */
  readonly day: string;
  readonly endpointId: string;
  readonly endpointName: string;
  readonly workspaceId: string;
  readonly bytes: number;
  /** Whether files of a post did not fit. */
  readonly wasFull: boolean;
}

/** Lists the forms whose publishable keys brought files on a day, or had some refused. */
export function* listFormDays(day: string): Steps<FormDay[]> {
  const rows = yield* all(text<Row>(LIST_SQL, day, day));
  return rows.map(({ id, name, workspace_id: workspaceId, bytes, refused }) => ({
    day,
    endpointId: id,
    endpointName: name,
    workspaceId,
    bytes,
    wasFull: refused > 0,
  }));
}

interface Row {
  readonly id: string;
  readonly name: string;
  readonly workspace_id: string;
  readonly bytes: number;
  readonly refused: number;
}

/** "!" is the character after a space, so that each range can be read from the primary key. */
const LIST_SQL = `SELECT endpoint.id, endpoint.name, endpoint.workspace_id,
    CAST(sum(counted.bytes) AS bigint) AS bytes, CAST(sum(counted.refused) AS bigint) AS refused
  FROM (
    SELECT substr(unit, 6) AS id, bytes, 0 AS refused FROM upload_use WHERE day = ? AND unit > 'form ' AND unit < 'form!'
    UNION ALL
    SELECT substr(unit, 11), 0, 1 FROM upload_use WHERE day = ? AND unit > 'full form ' AND unit < 'full form!'
  ) AS counted JOIN endpoint ON endpoint.id = counted.id
  GROUP BY endpoint.id, endpoint.name, endpoint.workspace_id ORDER BY endpoint.id`;

/** `near`: 80 % of a form's bytes for a day are used. `full`: all are used, or files did not fit. */
export type FormDayNews = "near" | "full";

/** The news of which a form's owner was notified on a day. */
export function* readOwnerNotified({ day, endpointId }: FormDay): Steps<ReadonlySet<string>> {
  const units = (["near", "full"] as const).map((what) => noticeUnit(what, endpointId));
  const rows = yield* all(text<{ readonly unit: string }>(NOTICES_SQL, day, ...units));
  return new Set(rows.map(({ unit }) => (unit === units[0] ? "near" : "full")));
}

/**
 * The largest number of letters about the forms of one workspace in a day, so that nobody can cause more by filling one form after the
 * other.
 */
const MAX_NOTICES_A_DAY = 10;

/** Notes that an owner will be notified. Returns false if that was noted before, or the workspace has had its letters of this day. */
export function* noteOwnerNotified(
  { day, endpointId, workspaceId }: FormDay,
  what: FormDayNews,
): Steps<boolean> {
  const before = yield* first(text<{ readonly count: number }>(COUNT_NOTICES_SQL, day, workspaceId));
  if ((before?.count ?? 0) >= MAX_NOTICES_A_DAY) return false;
  return (yield* run(text(NOTE_NOTICE_SQL, day, noticeUnit(what, endpointId)))) > 0;
}

function noticeUnit(what: FormDayNews, endpointId: string): string {
  return `told ${what} ${endpointId}`;
}

const NOTICES_SQL = "SELECT unit FROM upload_use WHERE day = ? AND unit IN (?, ?)";
const COUNT_NOTICES_SQL = `SELECT count(*) AS count FROM endpoint
  JOIN upload_use ON upload_use.day = ? AND upload_use.unit IN ('told near ' || endpoint.id, 'told full ' || endpoint.id)
  WHERE endpoint.workspace_id = ?`;
const NOTE_NOTICE_SQL = "INSERT INTO upload_use (day, unit, bytes) VALUES (?, ?, 0) ON CONFLICT DO NOTHING";
