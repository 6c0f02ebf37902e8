import type { Logger as Log } from "pino";

/**
 * Every event that the log knows, one function each, so that its name and members stay the same: alerts are written on them.
 * `docs/log-events.md` lists the same names with what to do; a test keeps the two equal. `delivery-events.ts`, `scan-events.ts` and
 * `sign-in-events.ts` have more.
 */

export function serverListening(
  log: Log,
  facts: { readonly url: string; readonly version: string; readonly database: string },
): void {
  log.info({ event: "server.listening", ...facts, pid: process.pid }, `listening on ${facts.url}`);
}

/** The dashboard listens on the address that `dashboard.listen` names. */
export function dashboardListening(log: Log, facts: { readonly url: string }): void {
  log.info({ event: "dashboard.listening", ...facts }, `the dashboard is at ${facts.url}`);
}

export function metricsListening(log: Log, facts: { readonly url: string }): void {
  log.info({ event: "metrics.listening", ...facts }, `metrics are at ${facts.url}`);
}

/** Others may reach the address of the metrics, and no token protects them. */
export function metricsUnguarded(log: Log, facts: { readonly url: string }): void {
  log.warn(
    { event: "metrics.unguarded", ...facts },
    "everybody who reaches this address can read the metrics: set metrics.token, or a loopback address as metrics.listen",
  );
}

/** Logged at the start for each variable that has our prefix and that no setting knows: most likely it is misspelt. */
export function variableUnknown(log: Log, variable: string): void {
  log.warn({ event: "config.variable-unknown", variable }, `${variable} names no setting and is not read`);
}

export function serverStopping(log: Log, signal: string): void {
  log.info({ event: "server.stopping", signal }, "stopping: open requests are answered, new ones refused");
}

export function serverGraceOver(log: Log): void {
  log.warn({ event: "server.grace-over" }, "requests still open were cut off");
}

export function serverStopped(log: Log): void {
  log.info({ event: "server.stopped" }, "stopped");
}

export function requestAnswered(
  log: Log,
  facts: {
    readonly reqId: string;
    readonly method: string;
    readonly path: string;
    /** Null if the client left before the answer. */
    readonly status: number | null;
    readonly ms: number;
  },
): void {
  log.info({ event: "request.answered", ...facts });
}

/**
 * A request that was answered with a status of 500 or more. A defect is an error and is logged whole. An expected failure is
 * a warning with its reason, because a full disk must not fill the log's disk with stacks.
 */
export function requestFailed(
  log: Log,
  facts: { readonly reqId: string; readonly code: string },
  cause: unknown,
  message: string,
): void {
  const failed = { event: "request.failed", ...facts };
  if (facts.code === "internal") log.error({ ...failed, err: cause }, message);
  else log.warn({ ...failed, ...(cause instanceof Error && { reason: cause.message }) }, message);
}

/** The bytes could not be read as HTTP, so the log has no method, path or time. The client got an answer all the same. */
export function requestUnreadable(
  log: Log,
  facts: { readonly reqId: string; readonly status: number; readonly reason: string },
): void {
  log.info({ event: "request.unreadable", ...facts });
}

export function keySeenInBrowser(
  log: Log,
  facts: { readonly keyId: string; readonly endpointId: string },
): void {
  log.warn({ event: "key.in-browser", ...facts }, "a browser sent a secret key; rotate it");
}

export function proxyUntrusted(log: Log, facts: { readonly address: string }): void {
  log.warn(
    { event: "proxy.untrusted", ...facts },
    "requests from here carry X-Forwarded-For, which is not believed: if it is your proxy, add it to server.trustProxy",
  );
}

/** Expected on a first start only. Later it means that the server was given another file than the one with the data. */
export function databaseCreated(log: Log, database: string): void {
  log.warn(
    { event: "database.created", database },
    "there was no database here, so a new, empty one was made: no key works with it yet; if you expected yours, look at " +
      "database.path and at what stands above it, the command line and FORMSVC_DATABASE_PATH",
  );
}

export function databaseMigrated(
  log: Log,
  facts: { readonly applied: readonly string[]; readonly keptCopy: string | null },
): void {
  log.info({ event: "database.migrated", ...facts }, "the database was brought up to date");
}

export function restoreUndone(log: Log, database: string): void {
  log.warn(
    { event: "database.restore-undone", database },
    "a restore was ended before it replaced the database, which is as it was: run it again",
  );
}

export function databaseLost(log: Log, facts: { readonly reason: string }): void {
  log.error(
    { event: "database.lost", ...facts },
    "the disk may have lost what was written; nothing was acknowledged since, and the server ends",
  );
}

export function databaseUpgraded(log: Log): void {
  log.error(
    { event: "database.upgraded" },
    "another process upgraded the database; restart this server with its version",
  );
}

/** @param facts `reason` is why the last try failed; null if no answer to it has come yet. */
export function databaseUnheard(log: Log, facts: { readonly reason: string | null }): void {
  log.error(
    { event: "database.unheard", ...facts },
    "the database has not answered for a second; requests with a key are refused until it does",
  );
}

export function databaseHeard(log: Log): void {
  log.warn({ event: "database.heard" }, "the database answers again");
}

/** @param facts `work` names the regular work of the server that failed; `reason` is the database's own message. */
export function databaseRefused(log: Log, facts: { readonly work: string; readonly reason: string }): void {
  log.error({ event: "database.refused", ...facts }, "the database refuses what this server needs");
}

export function standbyMissing(log: Log): void {
  log.error(
    { event: "database.standby-missing" },
    "commits wait for a synchronous standby that is not there; posts wait for ten seconds and are then refused",
  );
}

export function standbyBack(log: Log): void {
  log.warn({ event: "database.standby-back" }, "commits wait for no lost standby any more");
}

/** Logged at the start of a server on PostgreSQL. */
export function standbyNotAwaited(log: Log): void {
  log.warn(
    { event: "database.standby-not-awaited" },
    "commits wait for no standby: if the machine of PostgreSQL is lost, so are the posts that no standby or backup has yet",
  );
}

export function checkpointFailed(log: Log, err: unknown): void {
  log.warn({ event: "database.checkpoint-failed", err }, "the write-ahead log stays beside the database");
}

export function logNotCopied(log: Log, facts: { readonly reason: string }): void {
  log.warn(
    { event: "database.log-not-copied", ...facts },
    "the write-ahead log is copied between posts for a minute",
  );
}

export function maintenanceFailed(log: Log, err: unknown): void {
  log.warn({ event: "maintenance.failed", err }, "a clean-up failed and is tried again");
}

export function clockDoubted(log: Log, facts: { readonly before: string; readonly after: string }): void {
  log.warn({ event: "clock.doubted", ...facts }, "the clock went far ahead: nothing is deleted by age");
}

export function submissionsExpired(log: Log, submissions: number): void {
  log.info({ event: "retention.expired", submissions }, "submissions that were too old were deleted");
}

/**
 * Held posts were deleted to make room; the log has their number by the reason for which they were held.
 *
 * @param facts `bound` is the setting whose limit they passed
 */
export function heldEvicted(
  log: Log,
  facts: {
    readonly workspaceId: string;
    readonly bound: string;
    readonly spam: number;
    readonly limit: number;
    readonly origin: number;
  },
): void {
  log.warn({ event: "held.evicted", ...facts }, "more posts are held than may be: some had to go");
}

/** Counts the posts that were refused since the last such line. `origin` comes from a stranger. */
export function originRefused(
  log: Log,
  facts: { readonly endpointId: string; readonly origin: string; readonly posts: number },
): void {
  const message = "posts were refused: their page's origin is not among the endpoint's allowed origins";
  log.warn({ event: "origin.refused", ...facts }, message);
}

export function limitReached(
  log: Log,
  facts: {
    readonly workspaceId: string;
    readonly month: string;
    readonly percent: number;
    readonly used: number;
    readonly limit: number;
  },
): void {
  const message =
    facts.percent < 100
      ? "a workspace comes near its monthly limit"
      : "a workspace reached its monthly limit: posts are answered 429 and held";
  log.warn({ event: "limit.reached", ...facts }, message);
}

/** `systemd-notify` is missing or failed. */
export function newsFailed(log: Log, err: unknown): void {
  log.warn({ event: "service.news-failed", err }, "the service manager could not be told");
}

export function backupMade(log: Log, facts: { readonly file: string; readonly ms: number }): void {
  log.info({ event: "backup.made", ...facts }, "a scheduled backup was made and verified");
}

export function backupFailed(log: Log, facts: { readonly reason: string }): void {
  log.error({ event: "backup.failed", ...facts }, "a scheduled backup failed and is tried again");
}

/** Posts with files are refused until the file store answers again. */
export function fileStoreFailed(log: Log, fault: string): void {
  log.error({ event: "files.store-failed", fault }, "the S3-compatible store of files did not do a request");
}

export function fileStoreRecovered(log: Log): void {
  log.info({ event: "files.store-recovered" }, "the S3-compatible store of files does requests again");
}

/** One entry of the list of changes. @param facts `accountId` is null for the command line. */
export function changeMade(
  log: Log,
  facts: {
    readonly accountId: string | null;
    readonly action: string;
    readonly subject: string;
    readonly workspaceId: string | null;
  },
): void {
  log.info({ event: "change.made", ...facts }, "somebody changed something");
}

/** Renders a whole line, because it bypasses the logger: it reports lines that the logger lost. */
export function describeLostLines(time: string, lines: number): string {
  const lost = { level: "warn", time, event: "log.lost", lines, msg: "lines could not be written" };
  return `${JSON.stringify(lost)}\n`;
}
