import type { Database } from "../../database/database.ts";
import { readSlice } from "../../database/slices.ts";
import { all, first, type Steps, text } from "../../database/steps.ts";

/** The contents of a workspace, shown before somebody deletes it. */
interface WorkspaceCounts {
  readonly endpoints: number;
  readonly submissions: number;
  /** The number of held posts. */
  readonly held: number;
}

/** The number of rows of an index that one slice counts: in about a millisecond, or as long as nobody else waits for. */
const SLICE_ROWS = { sqlite: 5000, postgresql: 200_000 };
/** Looking into an index for one endpoint takes as long as counting this number of rows. */
const ROWS_PER_ENDPOINT = 50;

const ENDPOINTS_SQL = `SELECT id, number FROM endpoint JOIN endpoint_number ON endpoint_id = endpoint.id
  WHERE workspace_id = ? ORDER BY number`;

const SUBMISSIONS_SQL = `SELECT count(*) AS counted, max(id) AS last
  FROM (SELECT id FROM submission WHERE endpoint_number = ? AND id > ? ORDER BY id LIMIT ?) AS slice`;
const HELD_SQL = `SELECT count(*) AS counted, max(id) AS last
  FROM (SELECT id FROM held WHERE endpoint_id = ? AND id > ? ORDER BY id LIMIT ?) AS slice`;

/** Counts in slices, so that no post waits: counting three million submissions at once took half a second. */
export async function countContentsOf(db: Database, workspaceId: string): Promise<WorkspaceCounts> {
  const endpoints = await db.read(() =>
    all(text<{ id: string; number: number }>(ENDPOINTS_SQL, workspaceId)),
  );
  const numbers = endpoints.map(({ number }) => number);
  const ids = endpoints.map(({ id }) => id);
  return {
    endpoints: endpoints.length,
    submissions: await countRows(db, SUBMISSIONS_SQL, numbers),
    held: await countRows(db, HELD_SQL, ids),
  };
}

/** How far a count is: `after` is the last id that was counted of the key at `index`. */
interface Position {
  readonly index: number;
  readonly after: string;
}

async function countRows(db: Database, sql: string, keys: readonly unknown[]): Promise<number> {
  let total = 0;
  let position: Position = { index: 0, after: "" };
  while (position.index < keys.length) {
    const from = position;
    const slice = await readSlice(db, () => countSlice(SLICE_ROWS[db.engine], { sql, keys, ...from }));
    total += slice.counted;
    position = slice.next;
  }
  return total;
}

interface Counting extends Position {
  readonly sql: string;
  readonly keys: readonly unknown[];
}

function* countSlice(
  rows: number,
  { sql, keys, index, after }: Counting,
): Steps<{ readonly counted: number; readonly next: Position }> {
  let counted = 0;
  let left = rows;
  for (let at = index, from = after; at < keys.length; at += 1, from = "") {
    const found = yield* first(text<{ counted: number; last: string | null }>(sql, keys[at], from, left));
    const { counted: some, last } = found ?? { counted: 0, last: null };
    counted += some;
    if (some === left) return { counted, next: { index: at, after: last ?? from } };
    left -= some + ROWS_PER_ENDPOINT;
    if (left <= 0) return { counted, next: { index: at + 1, after: "" } };
  }
  return { counted, next: { index: keys.length, after: "" } };
}
