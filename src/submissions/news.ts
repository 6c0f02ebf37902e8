import { query } from "../database/database.ts";
import { all, type Steps } from "../database/steps.ts";
import { findEndpoint } from "../endpoints/endpoint-store.ts";
import { getWorkspace } from "../workspaces/workspace-store.ts";
import { idOfEndpoint } from "./endpoint-number.ts";
import type { TailPosition } from "./submission-store.ts";

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

/** Submissions that one call counts, which takes a few milliseconds. */
const MAX_ARRIVALS = 5000;

/** Counts the submissions that were committed after a position. @param until the last position that counts; null has no end. */
export function* countArrivals(after: TailPosition, until: TailPosition | null = null): Steps<Arrivals> {
  let rows = query
    .selectFrom("submission")
    .select(["seq", "endpoint_number"])
    .select(idOfEndpoint.as("endpoint_id"))
    .where("seq", ">", after)
    .orderBy("seq")
    .limit(MAX_ARRIVALS);
  if (until !== null) rows = rows.where("seq", "<=", until);
  const found = yield* all(rows);
  const byEndpoint = new Map<string, number>();
  for (const { endpoint_id: id } of found) byEndpoint.set(id, (byEndpoint.get(id) ?? 0) + 1);
  const byAccount = new Map<string, number>();
  for (const [id, count] of byEndpoint) {
    const endpoint = yield* findEndpoint(id);
    if (endpoint === undefined) continue;
    const { accountId } = yield* getWorkspace(endpoint.workspaceId);
    byAccount.set(accountId, (byAccount.get(accountId) ?? 0) + count);
  }
  return { position: found.at(-1)?.seq ?? after, byAccount, isCut: found.length === MAX_ARRIVALS };
}
