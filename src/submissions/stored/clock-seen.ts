import { query } from "../../database/database.ts";
import { first, run, type Steps } from "../../database/steps.ts";
import { DAY_MS, HOUR_MS } from "../../foundation/time-units.ts";

/*
 * What the clean-ups delete by its age is gone for good, also if the clock was ahead for a minute only. So they do not follow a clock that
 * went ahead by more than a day at once until a server has run for a day with it: time to set it, or for the operator to read of it.
 */

/** The largest step of the clock that is followed at once. */
const LARGEST_STEP_MS = DAY_MS;
/** How long a server runs with a clock that went further before the clean-ups follow it. */
const WAIT_MS = DAY_MS;
/** The clock is noted this often, so that an idle server writes little. */
const NOTE_MS = HOUR_MS;

/** A clock that went ahead too far at once. */
export interface DoubtedClock {
  /** What it showed before. */
  readonly seenAt: number;
  /** What it showed then. */
  readonly doubtedAt: number;
}

interface Look {
  /** Null if the clock is trusted. */
  readonly doubt: DoubtedClock | null;
  /** Whether this look was noted: the next one is given the time since then. */
  readonly isNoted: boolean;
}

interface Row {
  readonly seen_at: number;
  readonly doubted_at: number | null;
  readonly waited_ms: number;
}

/**
 * Looks at the clock, and notes what it shows. Call inside a transaction.
 *
 * @param ranMs how long this server has looked at it since it noted it last
 */
export function* lookAtClock(now: number, ranMs: number): Steps<Look> {
  const row = yield* first(query.selectFrom("clock_seen").selectAll());
  if (row === undefined) {
    yield* run(query.insertInto("clock_seen").values({ id: 1, ...trusted(now) }));
    return { doubt: null, isNoted: true };
  }
  const { seen_at: seenAt, doubted_at: doubtedAt } = row;
  const waitedMs = doubtedAt === null ? 0 : row.waited_ms + ranMs;
  if (now <= seenAt + LARGEST_STEP_MS + ranMs + row.waited_ms || waitedMs >= WAIT_MS) {
    const isNoted = doubtedAt !== null || Math.abs(now - seenAt) >= NOTE_MS;
    if (isNoted) yield* note(trusted(now));
    return { doubt: null, isNoted };
  }
  const isNoted = doubtedAt === null || ranMs >= NOTE_MS;
  const doubt = { seenAt, doubtedAt: doubtedAt ?? now };
  if (isNoted) yield* note({ seen_at: seenAt, doubted_at: doubt.doubtedAt, waited_ms: waitedMs });
  return { doubt, isNoted };
}

/** The clock that the clean-ups do not follow; undefined if they do. */
export function* findDoubtedClock(): Steps<DoubtedClock | undefined> {
  const row = yield* first(query.selectFrom("clock_seen").select(["seen_at", "doubted_at"]));
  const doubtedAt = row?.doubted_at ?? null;
  return row === undefined || doubtedAt === null ? undefined : { seenAt: row.seen_at, doubtedAt };
}

const trusted = (now: number): Row => ({ seen_at: now, doubted_at: null, waited_ms: 0 });

function* note(row: Row): Steps<void> {
  yield* run(query.updateTable("clock_seen").set(row));
}
