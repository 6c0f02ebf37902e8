import { query } from "../../database/database.ts";
import { raiseSettingsVersion } from "../../database/settings-version.ts";
import { all, first, run, type Steps, text } from "../../database/steps.ts";
import { afterFailure, afterSuccess, allowedInFlight, type Breaker, HEALTHY } from "./breaker.ts";
import type { AttemptResult, DeliveryPolicy } from "./transport.ts";
import { DAY_MS } from "../../foundation/time-units.ts";

/** No recipient or destination asks for a longer pause than this, so a later time was planned by a clock that was ahead. */
export const LONGEST_QUIET_MS = DAY_MS;

/** A destination as lanes name it. */
export interface LaneDestination {
  /** The kind whose limits the transport shares: `Transport.sharedKind`. */
  readonly kind: string;
  /** The destination, as in `Route.destination`. */
  readonly destination: string;
  /** A name that is unique among all kinds. */
  readonly name: string;
  readonly policy: DeliveryPolicy;
}

/** The end of an attempt at a destination. */
interface AttemptThere {
  readonly result: Pick<AttemptResult, "blame" | "message">;
  readonly claimedAt: number;
}

interface Fault {
  readonly of: LaneDestination;
  readonly breaker: Breaker;
  readonly since: number;
  readonly message: string;
}

export const FAULT_SQL = {
  put: `INSERT INTO place_fault (kind, place, since, message, next_probe_at) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (kind, place) DO UPDATE SET message = excluded.message, next_probe_at = excluded.next_probe_at`,
  drop: "DELETE FROM place_fault WHERE kind = ? AND place = ?",
} as const;

/**
 * The destinations that fail at present. After one fault, a single attempt at a time finds out whether the destination is back. The faults
 * are kept in memory, so that a new process tries every destination at once; the table `place_fault` shows them to people.
 */
export class Destinations {
  readonly #faults = new Map<string, Fault>();
  /** The faults as the table has them. */
  readonly #written = new Map<string, Fault>();

  /** When something may next be sent to the destination, in milliseconds since 1970; 0 while it has no fault. */
  readyAt(name: string): number {
    return this.#faults.get(name)?.breaker.notBeforeMs ?? 0;
  }

  /** The largest number of attempts under way at the destination. */
  allowed({ name, policy }: LaneDestination, now: number): number {
    const fault = this.#faults.get(name);
    return fault
      ? allowedInFlight(fault.breaker, policy.limits.perDestination, now)
      : policy.limits.perDestination;
  }

  /** Records the end of an attempt at the destination. */
  note(of: LaneDestination, { result, claimedAt }: AttemptThere, now: number): void {
    const { blame, message } = result;
    const fault = this.#faults.get(of.name);
    if (blame === "own" || blame === "unsure" || (blame !== "destination" && fault === undefined)) return;
    const limits = {
      probeSeconds: of.policy.probeSeconds,
      failuresUntilProbes: 1,
      perRecipient: of.policy.limits.perDestination,
    };
    const before = fault?.breaker ?? HEALTHY;
    if (blame === "destination") {
      const isProbe = claimedAt >= before.notBeforeMs;
      const breaker = afterFailure(before, limits, { nowMs: now, isProbe, retryAfterMs: null });
      this.#faults.set(of.name, { of, breaker, since: fault?.since ?? now, message });
    } else {
      // No destination asks for a wait, so each success ends it.
      const breaker = afterSuccess(before, limits, { isProbe: true });
      if (breaker === HEALTHY) this.#faults.delete(of.name);
      else if (fault) this.#faults.set(of.name, { ...fault, breaker });
    }
  }

  /** Shortens waits by as much as the clock was set back. */
  bringForward(stepMs: number, now: number): void {
    if (stepMs === 0) return;
    for (const [name, fault] of this.#faults) {
      const { breaker } = fault;
      if (breaker.notBeforeMs <= now) continue;
      this.#faults.set(name, {
        ...fault,
        breaker: { ...breaker, notBeforeMs: breaker.notBeforeMs - stepMs },
      });
    }
  }

  /** Ends waits that were planned by a clock that was ahead. */
  forgetWrongClock(now: number): void {
    for (const [name, fault] of this.#faults) {
      if (fault.breaker.notBeforeMs > now + LONGEST_QUIET_MS)
        this.#faults.set(name, { ...fault, breaker: { ...fault.breaker, notBeforeMs: 0 } });
    }
  }

  /** Compares with the table. If somebody has deleted a row, its destination is tried now. */
  followRows(rows: readonly FaultRow[]): void {
    for (const [name, { of }] of this.#written) {
      if (rows.some(({ kind, place }) => kind === of.kind && place === of.destination)) continue;
      this.#written.delete(name);
      const fault = this.#faults.get(name);
      if (fault) this.#faults.set(name, { ...fault, breaker: { ...fault.breaker, notBeforeMs: 0 } });
    }
  }

  /** The faults that the table does not yet show as they are; `fault` is null for one that is over. */
  changes(): FaultChange[] {
    const over = [...this.#written.values()].filter(({ of }) => !this.#faults.has(of.name));
    const changed = [...this.#faults.values()].filter((fault) => this.#written.get(fault.of.name) !== fault);
    return [
      ...over.map(({ of }) => ({ of, fault: null })),
      ...changed.map((fault) => ({ of: fault.of, fault })),
    ];
  }

  /** Call after these changes were committed. */
  saved(changes: readonly FaultChange[]): void {
    for (const { of, fault } of changes) {
      if (fault === null) this.#written.delete(of.name);
      else this.#written.set(of.name, fault);
    }
  }
}

/** A change of the table: `fault` is null if the row is to be deleted. */
export interface FaultChange {
  readonly of: LaneDestination;
  readonly fault: Fault | null;
}

/** Writes the changes. The table shows faults to people, so it has no row for a destination that is being tried again. */
export function* saveFaults(changes: readonly FaultChange[]): Steps<void> {
  for (const { of, fault } of changes) {
    const { kind, destination } = of;
    if (fault?.breaker.state === "open") {
      const { since, message, breaker } = fault;
      yield* run(text(FAULT_SQL.put, kind, destination, since, message, breaker.notBeforeMs));
    } else yield* run(text(FAULT_SQL.drop, kind, destination));
  }
}

/**
 * Deletes the faults that other processes found, so that each destination is tried again. @param before deletes faults whose next probe was
 * planned earlier.
 */
export function* forgetFaults(before: number): Steps<void> {
  yield* run(text("DELETE FROM place_fault WHERE next_probe_at < ?", before));
}

interface FaultRow {
  readonly kind: string;
  /** The destination. The name of the column is older than the word. */
  readonly place: string;
}

export function* readFaultRows(): Steps<FaultRow[]> {
  return yield* all(query.selectFrom("place_fault").select(["kind", "place"]));
}

/** Makes the running servers try a failing destination now, with one message. */
export function* tryDestinationNow({ kind, place }: FaultRow): Steps<void> {
  yield* run(text(FAULT_SQL.drop, kind, place));
  yield* raiseSettingsVersion("rows");
}

/** The fault of a destination, as the running server has found it. */
export interface DestinationFault {
  readonly since: number;
  readonly message: string;
  readonly nextProbeAt: number;
}

/** Returns undefined while the destination has no fault. */
export function* findDestinationFault(kind: string, place: string): Steps<DestinationFault | undefined> {
  const rows = query.selectFrom("place_fault").selectAll().where("kind", "=", kind);
  const row = yield* first(rows.where("place", "=", place));
  return row && { since: row.since, message: row.message, nextProbeAt: row.next_probe_at };
}
