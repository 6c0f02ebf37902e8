import { type ErrorCode, FormsvcError } from "../../foundation/errors.ts";
import { LATENCY_BUCKETS, type Metrics } from "../../foundation/metrics.ts";
import type { Gatekeeper } from "./authenticate.ts";
import type { Database } from "../../database/database.ts";
import type { CommitObserver } from "../commit/commit-batch.ts";
import { type Eviction, sumHeldBytes } from "../held/evict-held.ts";
import { HELD_REASONS } from "../held/held-post.ts";
import type { HeldRoomParts } from "../commit/held-room.ts";
import { limitReached, heldEvicted } from "../../foundation/events.ts";
import type { Log } from "../../foundation/log.ts";
import { orElse } from "../../foundation/maybe-later.ts";
import { USAGE_PERCENTS } from "../../workspaces/usage-mark.ts";
import { POST_REFUSALS } from "./post-errors.ts";
import type { Intake } from "./receive-submission.ts";

const BATCH_SIZE_BUCKETS = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512];
/** The upper bounds of the spam classes. Blocked posts are counted by their outcome. */
const SCORE_BUCKETS = [0, 10, 25, 50, 75];

/** The outcomes that are listed from the start. Any other outcome appears when it first happens. */
const OUTCOMES: readonly (ErrorCode | "accepted")[] = [
  "accepted",
  "invalid_json",
  ...POST_REFUSALS,
  "unavailable",
  "internal",
  "database_busy",
  "database_unusable",
];

export type CommitReport = CommitObserver["onCommit"];

export function measureCommits(metrics: Metrics): CommitReport {
  const duration = metrics.histogram(
    "formsvc_commit_duration_seconds",
    "Time of a transaction that stores submissions, its fsync included.",
    LATENCY_BUCKETS,
  );
  const size = metrics.histogram(
    "formsvc_commit_batch_submissions",
    "Submissions in one transaction.",
    BATCH_SIZE_BUCKETS,
  );
  const score = metrics.histogram("formsvc_spam_score", "Spam scores of stored submissions.", SCORE_BUCKETS);
  const reached = metrics.counter(
    "formsvc_limit_reached_total",
    "Months of a workspace that reached a share of the monthly limit, in percent.",
    "percent",
    USAGE_PERCENTS.map(String),
  );
  return ({ batch, outcomes, marks }, seconds) => {
    duration(seconds);
    size(batch.length);
    for (const { percent } of marks) reached(String(percent));
    for (const [index, pending] of batch.entries()) {
      if (outcomes[index] === "stored" && pending.kind === "submission") score(pending.submission.spamScore);
    }
  };
}

/** Logs what an owner should act on before genuine posts are lost. */
export function logCommits(log: Log): CommitReport {
  return ({ marks }) => {
    for (const mark of marks) limitReached(log, mark);
  };
}

/** Counts and logs held posts that were deleted for lack of room. */
export function reportEvictions(metrics: Metrics, log: Log): (eviction: Eviction) => void {
  const evicted = metrics.counter(
    "formsvc_held_evicted_total",
    "Held posts that had to go because there were too many or too large ones, by why they were held.",
    "why",
    HELD_REASONS,
  );
  return (eviction) => {
    for (const why of HELD_REASONS) evicted(why, eviction[why]);
    heldEvicted(log, eviction);
  };
}

/** Measures the bytes of all held posts, and their bound. */
export function measureHeld(metrics: Metrics, db: Database, maxBytes: HeldRoomParts["maxBytes"]): void {
  const bytes = (): Promise<number> => db.read(sumHeldBytes);
  metrics.gauge("formsvc_held_bytes", "Bytes of the texts of held posts.", bytes);
  metrics.gauge("formsvc_held_max_bytes", "Bytes that they may take; none if that is unlimited.", async () =>
    maxBytes(await bytes()),
  );
}

/** Wraps both parts, to count how each post ends: `accepted`, or the code of its error. */
export function countOutcomes(
  metrics: Metrics,
  gatekeeper: Gatekeeper,
  intake: Intake,
): { readonly gatekeeper: Gatekeeper; readonly intake: Intake } {
  const count = metrics.counter("formsvc_posts_total", "Posts by how they ended.", "outcome", OUTCOMES);
  const refused = (error: unknown): never => {
    count(error instanceof FormsvcError ? error.code : "internal");
    throw error;
  };
  const counted = <Result>(step: () => Result): Result => {
    try {
      return step();
    } catch (error) {
      return refused(error);
    }
  };
  return {
    gatekeeper: {
      ...gatekeeper,
      authenticate: (authorization, address) =>
        gatekeeper.authenticate(authorization, address).catch(refused),
      renew: (caller) => orElse(() => gatekeeper.renew(caller), refused),
    },
    intake: {
      ...intake,
      admit: (caller, source) => counted(() => intake.admit(caller, source)),
      receive: (caller, post) =>
        intake.receive(caller, post).then((submissionId) => {
          count("accepted");
          return submissionId;
        }, refused),
    },
  };
}
