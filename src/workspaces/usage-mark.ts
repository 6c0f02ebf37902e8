/** A share of its monthly limit that a workspace has just reached. */
export interface UsageMark {
  readonly workspaceId: string;
  /** `YYYY-MM`, UTC. */
  readonly month: string;
  readonly percent: UsagePercent;
  /** `used` is the number of accepted submissions now; `limit` is the limit that they count towards. */
  readonly used: number;
  readonly limit: number;
}

/** The shares, in percent, that are reported. At the first there is time to act; at the second posts are refused. */
export const USAGE_PERCENTS = [80, 100] as const;
export type UsagePercent = (typeof USAGE_PERCENTS)[number];

/**
 * The marks between two counts of one month. They depend only on the database's counts, so each mark is passed once in a month, even if
 * servers stop and start. It is passed again only if the limit was raised meanwhile.
 *
 * @param count `before` and `used` are numbers of accepted submissions; a limit of null means unlimited
 */
export function marksPassed(count: {
  readonly workspaceId: string;
  readonly month: string;
  readonly before: number;
  readonly used: number;
  readonly limit: number | null;
}): UsageMark[] {
  const { workspaceId, month, before, used, limit } = count;
  if (limit === null || used === before) return [];
  return USAGE_PERCENTS.filter(
    (percent) => !hasReached(before, limit, percent) && hasReached(used, limit, percent),
  ).map((percent) => ({ workspaceId, month, percent, used, limit }));
}

/** Whether this share of the limit is used. A limit of null means unlimited, which is never reached. */
export function hasReached(used: number, limit: number | null, percent: UsagePercent): boolean {
  return limit !== null && used * 100 >= limit * percent;
}
