import type { Head } from "../../database/database.ts";
import { all, type Steps, textByEngine } from "../../database/steps.ts";
import { IS_COMPLETE, isIncomplete, type TailPosition } from "./tail.ts";

/** Tells listeners that new submissions may have been stored. */
export interface News {
  /** Calls the listeners. Costs nothing if there is none. */
  announce(): void;
  /** Adds a listener. Returns a function that removes it. */
  listen(listener: () => void): () => void;
}

export function createNews(): News {
  const listeners = new Set<() => void>();
  return {
    announce() {
      if (listeners.size === 0) return;
      for (const listener of listeners) listener();
    },
    listen(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

/** Announces submissions that other servers stored, because no commit of this process shows them. */
export function newsHead(news: News): Head {
  return {
    sql: "SELECT stored_by::text || id FROM submission ORDER BY stored_by DESC, id DESC LIMIT 1",
    onChange: () => news.announce(),
  };
}

/** The submissions after a position, counted. */
export interface Arrivals {
  readonly position: TailPosition;
  /** The number of submissions, by endpoint. */
  readonly byEndpoint: ReadonlyMap<string, number>;
  /** Whether there are more submissions after the position, or will be when an open transaction ends. */
  readonly isCut: boolean;
}

/** The largest number of submissions that one call counts, in a millisecond or two. */
const MAX_ARRIVALS = 10_000;

const ENDPOINT = "(SELECT endpoint_id FROM endpoint_number WHERE number = endpoint) AS endpoint_id";

const COUNT_SQL = {
  sqlite: `SELECT count(*) AS submissions, max(seq) AS "commit", '' AS id, ${ENDPOINT}
    FROM (SELECT seq, endpoint_number AS endpoint FROM submission
      WHERE seq > ? AND ? = '' AND seq <= ? AND ? = '' ORDER BY seq LIMIT ${MAX_ARRIVALS}) AS arrived
    GROUP BY endpoint`,
  // The text is the commit in 20 digits, followed by the id. So the largest text is that of the latest position.
  postgresql: `SELECT submissions, left(last_place, 20)::bigint AS "commit", substr(last_place, 21) AS id, ${ENDPOINT}
    FROM (SELECT endpoint, count(*) AS submissions,
        max((lpad(stored_by::text, 20, '0') || id) COLLATE "C") AS last_place
      FROM (SELECT stored_by, id, endpoint_number AS endpoint FROM submission
        WHERE (stored_by, id) > (CAST(? AS text)::xid8, ?) AND (stored_by, id) <= (CAST(? AS text)::xid8, ?)
          AND ${IS_COMPLETE} ORDER BY stored_by, id LIMIT ${MAX_ARRIVALS}) AS arrived
      GROUP BY endpoint) AS counted`,
};

interface Counted extends TailPosition {
  readonly submissions: number;
  readonly endpoint_id: string;
}

/** Counts the submissions that were committed after a position. @param until the last position that counts */
export function* countArrivals(after: TailPosition, until: TailPosition = TAIL_END): Steps<Arrivals> {
  const counts = yield* all(textByEngine<Counted>(COUNT_SQL, after.commit, after.id, until.commit, until.id));
  const byEndpoint = new Map<string, number>();
  let position = after;
  let total = 0;
  for (const counted of counts) {
    if (isBefore(position, counted)) position = { commit: counted.commit, id: counted.id };
    total += counted.submissions;
    byEndpoint.set(counted.endpoint_id, counted.submissions);
  }
  return { position, byEndpoint, isCut: total === MAX_ARRIVALS || (yield* isIncomplete()) };
}

/** A position after every submission. */
const TAIL_END: TailPosition = { commit: Number.MAX_SAFE_INTEGER, id: "" };

function isBefore(one: TailPosition, other: TailPosition): boolean {
  return one.commit < other.commit || (one.commit === other.commit && one.id < other.id);
}
