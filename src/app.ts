import type { Config } from "./config/config.ts";
import { COMMAND_BUSY_TIMEOUT_MS, type Database, openDatabase } from "./database/database.ts";
import { migrate, type MigrationResult } from "./database/migrate.ts";
import { measureDatabase } from "./database/database-metrics.ts";
import { watchChanges } from "./database/settings-version.ts";
import { createEndpointDirectory } from "./endpoints/endpoint-directory.ts";
import type { Clock } from "./foundation/clock.ts";
import { keySeenInBrowser, maintenanceFailed } from "./foundation/events.ts";
import { compileNetworks } from "./foundation/ip-address.ts";
import type { Log } from "./foundation/log.ts";
import { type ExposedMetrics, noMetrics } from "./foundation/metrics.ts";
import { markSeenInBrowser } from "./keys/key-store.ts";
import { createKeyVerifier } from "./keys/verify-key.ts";
import { type Caller, createGatekeeper, type Gatekeeper } from "./submissions/authenticate.ts";
import { createCommitQueue } from "./submissions/commit-batch.ts";
import { createIdempotencyMemory } from "./submissions/idempotency.ts";
import { createRateLimiter } from "./submissions/rate-limit.ts";
import { createReceiver, type Receiver } from "./submissions/receive-submission.ts";
import { defaultSpamSettings } from "./spam/spam-settings.ts";
import { createRetention } from "./submissions/retention.ts";
import { countOutcomes, measureCommits } from "./submissions/submit-metrics.ts";
import { createUsageCounter } from "./workspaces/usage-counter.ts";
import { measureUsage } from "./workspaces/workspace-metrics.ts";

/** The database of a configuration, opened and brought up to date. */
export interface OpenedDatabase {
  readonly db: Database;
  readonly migrated: MigrationResult;
}

/**
 * @param busyTimeoutMs how long a statement waits for another process, with everything else in this one. Opening itself
 *   waits as long as a command does: another process may be migrating the same file.
 */
export function openMigrated(config: Config, busyTimeoutMs: number): OpenedDatabase {
  const db = openDatabase(config.database.path, { busyTimeoutMs: COMMAND_BUSY_TIMEOUT_MS });
  try {
    const migrated = migrate(db);
    db.pragma(`busy_timeout = ${busyTimeoutMs}`);
    return { db, migrated };
  } catch (error) {
    db.close();
    throw error;
  }
}

/** Everything that takes posts, wired over one database. HTTP is given this and no database. */
export interface SubmitService {
  readonly gatekeeper: Gatekeeper;
  readonly receiver: Receiver;
  /** Call before each request: notices what other processes changed. */
  readonly noticeChanges: () => void;
  /** Whether a row can be written now; at most one look a second. */
  readonly isWritable: () => boolean;
  /** Null where the configuration leaves them out. */
  readonly metrics: ExposedMetrics | null;
  /** Small clean-ups, for a timer. */
  readonly maintain: () => void;
  /** Deletes some of the submissions that are older than their endpoint keeps them; how many. */
  readonly expire: () => number;
  /** Resolves when all that was taken is stored. */
  readonly drain: () => Promise<void>;
}

/** @param metrics where to measure; null measures nothing. */
export function createSubmitService(
  db: Database,
  config: Config,
  clock: Clock,
  log: Log,
  metrics: ExposedMetrics | null = null,
): SubmitService {
  const verifier = createKeyVerifier(db, clock);
  const directory = createEndpointDirectory(db, config.plans);
  const usage = createUsageCounter(db);
  const idempotency = createIdempotencyMemory(db);
  const commits = createCommitQueue(db, usage, idempotency, measureCommits(metrics ?? noMetrics));
  const gatekeeper = createGatekeeper(
    verifier,
    directory,
    createRateLimiter(),
    config.rateLimit,
    compileNetworks(config.rateLimit.exempt),
  );
  const receiver = createReceiver({
    gatekeeper,
    usage,
    idempotency,
    commits,
    spamSettings: defaultSpamSettings(config.spam.maxLinks ?? Number.MAX_SAFE_INTEGER),
    onSecretInBrowser: createBrowserMark(db, clock, log),
    clock,
  });
  const retention = createRetention(db);
  const watch = watchChanges(db, [
    {
      onForeignCommit: () => usage.forget(),
      onSettingsChange: () => {
        verifier.forgetRecords();
        directory.forget();
      },
    },
  ]);
  if (metrics !== null) {
    metrics.gauge("formsvc_commit_queue_submissions", "Submissions that wait for the disk.", () =>
      commits.waiting(),
    );
    measureDatabase(metrics, db, config.backup, clock);
    measureUsage(metrics, db, config.plans, clock);
  }
  return {
    ...countOutcomes(metrics ?? noMetrics, gatekeeper, receiver),
    metrics,
    noticeChanges: () => watch.look(),
    isWritable: createWriteProbe(db),
    maintain: () => void idempotency.forgetExpired(clock.now()),
    expire: () => retention.expire(clock.now()),
    drain: () => commits.drain(),
  };
}

/** Times between two notes of the same key in a browser, and between two probes of the disk. */
const BROWSER_MARK_INTERVAL_MS = 3_600_000;
const WRITE_PROBE_INTERVAL_MS = 1000;
/** Keys whose last note is remembered. */
const MAX_BROWSER_MARKS = 1000;

/** A page that leaks a secret key may be busy: the key is noted once an hour. */
function createBrowserMark(db: Database, clock: Clock, log: Log): (caller: Caller) => void {
  const marked = new Map<string, number>();
  return ({ key }) => {
    const now = clock.now();
    if (now - (marked.get(key.id) ?? -Infinity) < BROWSER_MARK_INTERVAL_MS) return;
    if (marked.size >= MAX_BROWSER_MARKS) marked.clear();
    marked.set(key.id, now);
    keySeenInBrowser(log, { keyId: key.id, endpointId: key.endpointId });
    try {
      markSeenInBrowser(db, key, now);
    } catch (error) {
      maintenanceFailed(log, error);
    }
  };
}

function createWriteProbe(db: Database): () => boolean {
  let probedAt = -Infinity;
  let writable = true;
  return () => {
    const now = performance.now();
    if (now - probedAt >= WRITE_PROBE_INTERVAL_MS) {
      probedAt = now;
      writable = canWrite(db);
    }
    return writable;
  };
}

/** @throws database_unusable, database_busy saying why no row can be written now. */
export function proveWritable(db: Database): void {
  db.transaction(() => db.execute("UPDATE settings_version SET version = version WHERE id = 1"));
}

function canWrite(db: Database): boolean {
  try {
    proveWritable(db);
    return true;
  } catch {
    return false;
  }
}
