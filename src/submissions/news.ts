import { all, type Steps, text } from "../database/steps.ts";
import { findEndpoint } from "../endpoints/endpoint-store.ts";
import { getWorkspace } from "../workspaces/workspace-store.ts";
import type { TailPosition } from "./tail.ts";

/** Tells who wants to know that submissions may have come. */
export interface News {
  /** Costs nothing while nobody listens. */
  tell(): void;
  /** Returns what ends it. */
  listen(listener: () => void): () => void;
}

export function createNews(): News {
  const listeners = new Set<() => void>();
  return {
    tell() {
      if (listeners.size === 0) return;
      for (const listener of listeners) listener();
    },
    listen(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

/** What came after a position. */
export interface Arrivals {
  readonly position: TailPosition;
  /** How many, by the account that owns them. */
  readonly byAccount: ReadonlyMap<string, number>;
  /** Whether there is more after the position. */
  readonly isCut: boolean;
}

/** Submissions that one call counts, which takes a millisecond or two. */
const MAX_ARRIVALS = 10_000;

const COUNT_SQL = `SELECT count(*) AS submissions, max(seq) AS position,
    (SELECT endpoint_id FROM endpoint_number WHERE number = endpoint) AS endpoint_id
  FROM (SELECT seq, endpoint_number AS endpoint FROM submission WHERE seq > ? AND seq <= ? ORDER BY seq LIMIT ${MAX_ARRIVALS}) AS arrived
  GROUP BY endpoint`;

interface Counted {
  readonly submissions: number;
  readonly position: number;
  readonly endpoint_id: string;
}

/** Counts the submissions that were committed after a position. @param until the last position that counts */
export function* countArrivals(
  after: TailPosition,
  until: TailPosition = { commit: Number.MAX_SAFE_INTEGER, id: "" },
): Steps<Arrivals> {
  const counts = yield* all(text<Counted>(COUNT_SQL, after.commit, until.commit));
  const byAccount = new Map<string, number>();
  let [commit, total] = [after.commit, 0];
  for (const counted of counts) {
    commit = Math.max(commit, counted.position);
    total += counted.submissions;
    const endpoint = yield* findEndpoint(counted.endpoint_id);
    if (endpoint === undefined) continue;
    const { accountId } = yield* getWorkspace(endpoint.workspaceId);
    byAccount.set(accountId, (byAccount.get(accountId) ?? 0) + counted.submissions);
  }
  return { position: { commit, id: "" }, byAccount, isCut: total === MAX_ARRIVALS };
}
