/** A share of its monthly limit that a workspace has just reached. */
export interface UsageMark {
  readonly workspaceId: string;
  /** `YYYY-MM`, UTC. */
  readonly month: string;
  readonly percent: UsagePercent;
  /** Accepted submissions now; the limit they count towards. */
  readonly used: number;
  readonly limit: number;
}

/** Shares, in percent, that are reported: at the first there is time to act, at the second posts are refused. */
export const USAGE_PERCENTS = [80, 100] as const;
export type UsagePercent = (typeof USAGE_PERCENTS)[number];

/**
 * The marks that lie between two counts of one month. They depend only on the database's counts, so each is passed once in a
 * month, whatever stops and starts in between. It is passed again only if the limit was raised meanwhile.
 *
 * @param count `before` and `used` are accepted submissions; a limit of null is unlimited.
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

/** Whether this share of the limit is used. Null is unlimited and never reached. */
export function hasReached(used: number, limit: number | null, percent: UsagePercent): boolean {
  return limit !== null && used * 100 >= limit * percent;
}
