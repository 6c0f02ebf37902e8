import type { RecipientState } from "../queue/recipient.ts";
import type { Breaker } from "./breaker.ts";

/** The columns of a recipient that an attempt may change. */
export interface RecipientSituation {
  readonly recipientState: RecipientState;
  readonly breaker: Breaker;
  readonly goneAt: number | null;
  readonly failingSince: number | null;
  readonly refusals: number;
}

export interface SituationRow {
  readonly state: RecipientState;
  readonly breaker: "closed" | "open" | "ramping";
  readonly breaker_count: number;
  readonly not_before: number;
  readonly gone_at: number | null;
  readonly failing_since: number | null;
  readonly refusals: number;
}

export const SITUATION_SQL = {
  columns: ["state", "breaker", "breaker_count", "not_before", "gone_at", "failing_since", "refusals"],
  update: `UPDATE recipient SET state = ?, breaker = ?, breaker_count = ?, not_before = ?, gone_at = ?, failing_since = ?,
      refusals = ? WHERE id = ?`,
} as const;

export function toSituation(row: SituationRow): RecipientSituation {
  return {
    recipientState: row.state,
    breaker: { state: row.breaker, count: row.breaker_count, notBeforeMs: row.not_before },
    goneAt: row.gone_at,
    failingSince: row.failing_since,
    refusals: row.refusals,
  };
}

/** The parameters of the update; null if the attempt changed nothing, as most do, so that nothing is written. */
export function changedSituation(
  id: string,
  before: RecipientSituation,
  after: RecipientSituation,
): readonly unknown[] | null {
  const { recipientState, breaker, goneAt, failingSince, refusals } = after;
  const isSame =
    recipientState === before.recipientState &&
    breaker === before.breaker &&
    goneAt === before.goneAt &&
    failingSince === before.failingSince &&
    refusals === before.refusals;
  if (isSame) return null;
  const { state, count, notBeforeMs } = breaker;
  return [recipientState, state, count, notBeforeMs, goneAt, failingSince, refusals, id];
}
