import { DatabaseError } from "pg";
import { FormsvcError } from "../../foundation/errors.ts";
import { databaseRefused } from "../../foundation/events.ts";
import type { Log } from "../../foundation/log.ts";
import type { Metrics } from "../../foundation/metrics.ts";
import { isOfEncryption, isPassing, translatePostgresqlError } from "./postgresql-error.ts";

/** The recurring work of a server with its database; it goes on even if it fails. */
const WORKS = ["pulse", "heartbeat", "probe", "rates", "notify"] as const;
export type Work = (typeof WORKS)[number];

/** Records the outcomes of one kind of work. */
export interface Outcomes {
  /** The reason of the last failure; null if the work has succeeded since. */
  readonly reason: () => string | null;
  readonly succeeded: () => void;
  readonly failed: (error: unknown) => void;
}

/**
 * Counts and logs what PostgreSQL refuses each time until somebody changes something: a right or a table is missing, the password was
 * changed, a certificate is not trusted. Each refusal is logged once until the work succeeds again. A failure that passes by itself is not
 * counted; the pulse reports a database that does not answer.
 */
export class DatabaseRefusals {
  readonly #log: Log;
  readonly #shown: string;
  readonly #logged = new Map<Work, string>();
  #count: (work: Work) => void = () => undefined;

  /** @param shown the name of the database in messages. */
  constructor(log: Log, shown: string) {
    this.#log = log;
    this.#shown = shown;
  }

  measure(metrics: Metrics): void {
    this.#count = metrics.counter(
      "formsvc_database_refusals_total",
      "What a server does again and again and PostgreSQL refused.",
      "work",
      WORKS,
    );
  }

  of(work: Work): Outcomes {
    let reason: string | null = null;
    return {
      reason: () => reason,
      succeeded: () => {
        reason = null;
        this.#logged.delete(work);
      },
      failed: (thrown) => {
        const error = translatePostgresqlError(thrown, this.#shown);
        reason = error instanceof Error ? error.message : String(error);
        this.#note(work, error);
      },
    };
  }

  #note(work: Work, error: unknown): void {
    if (isPassing(error) && !isOfEncryption(error)) return;
    if (!(error instanceof FormsvcError || error instanceof DatabaseError)) return;
    this.#count(work);
    if (this.#logged.get(work) === error.message) return;
    this.#logged.set(work, error.message);
    databaseRefused(this.#log, { work, reason: error.message });
  }
}
