import type { Steps } from "../../database/steps.ts";
import { dayOf, formShareBytes } from "../../files/file-room.ts";
import { type FormDay, listFormDays } from "../../files/form-days.ts";
import { nameWorkspaces, type NamedWorkspace } from "../../workspaces/near-limit.ts";
import { hasReached } from "../../workspaces/usage-mark.ts";
import { findLimits, type Plans } from "../../workspaces/workspace.ts";

/** A form whose page has used up 80 % or more of the bytes of files that it may send in a day. */
export interface NearFormDay extends FormDay, NamedWorkspace {
  /** The largest number of bytes of files that the page may send in a day. */
  readonly limit: number;
  /** Whether no file fits any more, or the files of a post did not fit. */
  readonly isFull: boolean;
}

interface FormDayRules {
  readonly plans: Plans;
  readonly maxTotalBytes: number;
  readonly maxFormShare: number;
}

/**
 * Lists the forms whose pages have sent 80 % or more of the files that they may send today, or for which files did not fit.
 *
 * @param lookBackMs also lists forms that were full on a day that ended within this time.
 */
export function* listNearFormDays(
  rules: FormDayRules,
  now: number,
  lookBackMs: number,
): Steps<NearFormDay[]> {
  const today = dayOf(now);
  const near: NearFormDay[] = [];
  for (const day of new Set([dayOf(now - lookBackMs), today]))
    near.push(...(yield* findNear(rules, yield* listFormDays(day))));
  return near.filter(({ day, isFull }) => day === today || isFull);
}

function* findNear(rules: FormDayRules, days: readonly FormDay[]): Steps<NearFormDay[]> {
  if (days.length === 0) return [];
  const ids = [...new Set(days.map(({ workspaceId }) => workspaceId))];
  const workspaces = new Map((yield* nameWorkspaces(ids)).map((each) => [each.workspaceId, each]));
  return days.flatMap((form) => {
    const workspace = workspaces.get(form.workspaceId);
    if (workspace === undefined) return [];
    const limit = formShareBytes(rules, findLimits(rules.plans, workspace.plan)?.fileBytes ?? null);
    if (!form.wasFull && !hasReached(form.bytes, limit, 80)) return [];
    return [{ ...workspace, ...form, limit, isFull: form.wasFull || hasReached(form.bytes, limit, 100) }];
  });
}
