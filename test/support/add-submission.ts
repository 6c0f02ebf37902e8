import type { Database } from "../../src/database/database.ts";
import type { EventParts } from "../../src/outbox/queue/event.ts";
import { newId } from "../../src/foundation/id.ts";
import {
  INSERT_SUBMISSION_SQL,
  insertSubmission,
  submissionValues,
} from "../../src/submissions/stored/submission-store.ts";
import type { Submission } from "../../src/submissions/stored/submission.ts";
import { type StoredSubmission, UNTOUCHED } from "../../src/submissions/stored/submission-work.ts";

/** A connection of our own class or of the driver. */
interface Connection {
  prepare(sql: string): { run(...parameters: unknown[]): unknown };
}

/** The parts of a submission that a test gives; the rest is the same for all. */
export type GivenSubmission = Pick<Submission, "endpointId"> & Partial<Submission>;

export function asSubmission(given: GivenSubmission): StoredSubmission {
  const createdAt = given.createdAt ?? 1;
  return {
    ...UNTOUCHED,
    id: newId("sub", createdAt),
    schemaVersion: 1,
    data: {},
    setAside: null,
    spamScore: 0,
    spamClass: "low",
    spamReasons: [],
    spamVersion: 1,
    ipAddress: "",
    userAgent: "",
    createdAt,
    ...given,
  };
}

/** Prepares the one statement that stores submissions. The returned function stores one submission and returns its id. */
export function submissionAdder(
  db: Connection,
): (given: GivenSubmission, event?: EventParts | null) => string {
  const insert = db.prepare(INSERT_SUBMISSION_SQL);
  return (given, event = null) => {
    const submission = asSubmission(given);
    insert.run(...submissionValues(submission, event));
    return submission.id;
  };
}

const NOT_QUEUED: EventParts = { head: null, tail: null, notSent: null };

/** Stores submissions on any engine, in one transaction. Returns their ids. */
export function storeSubmissions(db: Database, given: readonly GivenSubmission[]): Promise<string[]> {
  const submissions = given.map(asSubmission);
  return db.transaction(function* () {
    for (const submission of submissions) yield* insertSubmission(submission, NOT_QUEUED);
    return submissions.map(({ id }) => id);
  });
}

/** Stores one submission and returns its id. */
export function addSubmission(db: Connection, given: GivenSubmission): string {
  return submissionAdder(db)(given);
}
