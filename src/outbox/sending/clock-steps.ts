import { sql } from "kysely";
import { query } from "../../database/database.ts";
import { listedIds } from "../../database/list-parameter.ts";
import { run, type Steps } from "../../database/steps.ts";
import type { Clock } from "../../foundation/clock.ts";
import { MINUTE_MS } from "../../foundation/time-units.ts";

/** A clock that goes back by less was set right in passing: what was planned by it comes at most that much late. */
const LEAST_STEP_MS = MINUTE_MS;

/** Notices when the machine's clock is set back while this process runs. */
export class ClockSteps {
  readonly #clock: Clock;
  /** The clock minus the process's own clock, which nobody sets. Null before the first look. */
  #lead: number | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** By how many milliseconds the clock was set back since the last look; 0 if it was not. */
  look(): number {
    const lead = this.#clock.now() - performance.now();
    const back = this.#lead === null ? 0 : this.#lead - lead;
    if (back > 0 && back < LEAST_STEP_MS) return 0;
    this.#lead = lead;
    return Math.max(Math.round(back), 0);
  }
}

/**
 * Brings forward what is planned for these recipients, by as much as the clock was set back, so that each wait lasts as long as it would
 * have. A plan alone does not show whether the clock was ahead: a receiver may ask for a wait of a day.
 */
export function* bringPlansForward(
  recipientIds: readonly string[],
  stepMs: number,
  now: number,
): Steps<void> {
  const ids = listedIds(recipientIds);
  yield* run(
    query
      .updateTable("delivery")
      .set((eb) => ({ due_at: eb("due_at", "-", stepMs) }))
      .where("recipient_id", "in", ids)
      .where("state", "=", sql.lit("pending"))
      .where("lead_id", "is", null)
      .where("due_at", ">", now),
  );
  yield* run(
    query
      .updateTable("recipient")
      .set((eb) => ({ not_before: eb("not_before", "-", stepMs) }))
      .where("id", "in", ids)
      .where("not_before", ">", now),
  );
  yield* run(
    query
      .updateTable("recipient_pace")
      .set((eb) => ({ gathers_until: eb("gathers_until", "-", stepMs) }))
      .where("recipient_id", "in", ids)
      .where("gathers_until", ">", now),
  );
}
