import { dropOldChanges } from "./audit/audit-store.ts";
import type { Config } from "./config/config.ts";
import { COMMAND_BUSY_TIMEOUT_MS, openDatabase } from "./database/sqlite/open-database.ts";
import type { SqliteDatabase } from "./database/sqlite/sqlite-database.ts";
import { type LiveServers, ONLY_SERVER } from "./database/live-servers.ts";
import { migrate, type MigrationResult } from "./database/migrate.ts";
import { createWritability, type Writability } from "./database/sqlite/write-probe.ts";
import { measureDatabase } from "./database/sqlite/database-metrics.ts";
import { createLogCleaner, type LogCleaner } from "./database/sqlite/empty-log.ts";
import { recallOrRead } from "./database/recall-or-read.ts";
import type { Steps } from "./database/steps.ts";
import type { DeleteContents } from "./endpoints/delete-endpoint.ts";
import { createEndpointDirectory, type EndpointDirectory } from "./endpoints/endpoint-directory.ts";
import type { Clock } from "./foundation/clock.ts";
import { databaseUpgraded, keySeenInBrowser, maintenanceFailed } from "./foundation/events.ts";
import { compileNetworks } from "./foundation/ip-address.ts";
import type { Log } from "./foundation/log.ts";
import { type ExposedMetrics, noMetrics } from "./foundation/metrics.ts";
import { MAIL_METRICS } from "./mail/mail-metrics.ts";
import { MAIL_KIND } from "./mail/mail-recipient.ts";
import { type MailParts, type MailService, openMailService, openMailTransport } from "./mail/open-mail.ts";
import { WEBHOOK_KIND } from "./webhooks/webhook.ts";
import { readSmtpSettings } from "./mail/read-smtp-settings.ts";
import { createSmtpSender } from "./mail/smtp-sender.ts";
import { finishGrace, markSeenInBrowser } from "./keys/key-store.ts";
import { createKeyVerifier, type KeyVerifier } from "./keys/verify-key.ts";
import { type Caller, createGatekeeper, type Gatekeeper } from "./submissions/authenticate.ts";
import { createBurstMemory } from "./history/burst-memory.ts";
import { type CommitObserver, type CommitQueue, createCommitQueue } from "./submissions/commit-batch.ts";
import { createSqliteBatch } from "./submissions/sqlite-batch.ts";
import { dropExpired } from "./submissions/held-post.ts";
import { createIdempotencyMemory, forgetExpired, forgetKeysOf } from "./submissions/idempotency.ts";
import { createRateLimiter } from "./foundation/rate-limit.ts";
import { createIntake, type Intake } from "./submissions/receive-submission.ts";
import {
  type CommitReport,
  countOutcomes,
  logCommits,
  measureCommits,
} from "./submissions/submit-metrics.ts";
import { deleteSubmissionsOf } from "./submissions/submission-store.ts";
import { createNews, type News } from "./submissions/news.ts";
import { createProxyWatch } from "./submissions/untrusted-proxy.ts";
import { createKeyring, type Keyring } from "./secrets/keyring.ts";
import { checkKeys, type ListSecrets } from "./secrets/stored-secret.ts";
import { listTotpSecrets } from "./sessions/credential-store.ts";
import { dropOldMailedLinks } from "./sessions/mailed-link.ts";
import { dropEndedSessions } from "./sessions/session.ts";
import { expireSubmissions } from "./submissions/retention.ts";
import { createSpamMemory, type SpamMemory } from "./history/spam-memory.ts";
import { createSpamSettingsReader } from "./endpoints/spam-choices-store.ts";
import { defaultSpamSettings, type SpamSettings } from "./spam/spam-settings.ts";
import { createSubmissionReader, type SubmissionReader } from "./submissions/submission-reader.ts";
import { parseAllowedNetworks } from "./webhooks/address-guard.ts";
import { measureChannel } from "./outbox/channel-metrics.ts";
import { Deliverer } from "./outbox/deliverer.ts";
import { BEFORE_ALL, dropOldDeliveries, type KeptDeliveries } from "./outbox/delivery-retention.ts";
import type { Transport } from "./outbox/transport.ts";
import { createSqliteOutbox } from "./outbox/outbox.ts";
import { createHostResolver } from "./webhooks/resolve-host.ts";
import { WEBHOOK_METRICS } from "./webhooks/webhook-metrics.ts";
import { createHttpSender, type HttpSender } from "./webhooks/send.ts";
import { listWebhookSecrets } from "./webhooks/webhook-secrets.ts";
import { createWebhookTransport } from "./webhooks/webhook-transport.ts";
import { spreadLate } from "./outbox/spread-outbox.ts";
import { createUsageCounter, type UsageCounter } from "./workspaces/usage-counter.ts";
import { measureUsage } from "./workspaces/workspace-metrics.ts";

/** The database of a configuration, opened and brought up to date. */
export interface OpenedDatabase {
  readonly db: SqliteDatabase;
  readonly migrated: MigrationResult;
}

/**
 * @param busyTimeoutMs how long a statement waits for another process, with everything else in this one. Opening itself
 *   waits as long as a command does: another process may be migrating the same file.
 * @param upgrade brings it up to date. The default is for the holder of the server's lock.
 */
export function openMigrated(
  config: Config,
  busyTimeoutMs: number,
  upgrade: (db: SqliteDatabase) => MigrationResult = migrate,
): OpenedDatabase {
  const db = openDatabase(config.database.path, { busyTimeoutMs: COMMAND_BUSY_TIMEOUT_MS });
  try {
    const migrated = upgrade(db);
    db.pragma(`busy_timeout = ${busyTimeoutMs}`);
    return { db, migrated };
  } catch (error) {
    db.close();
    throw error;
  }
}

/** Every recoverable secret of the database. A feature that stores one adds its list here. */
export const SECRET_LISTS: readonly ListSecrets[] = [listWebhookSecrets, listTotpSecrets];

/** What is deleted with an endpoint, a batch at a time. A feature whose rows would be many adds its own here. */
export const ENDPOINT_CONTENTS: readonly DeleteContents[] = [deleteSubmissionsOf, forgetKeysOf];

/** The configured keys. @throws config_invalid if they do not open every secret of the database. */
export function* openKeyring(config: Config): Steps<Keyring> {
  const keyring = createKeyring(config.secrets);
  yield* checkKeys(SECRET_LISTS, keyring);
  return keyring;
}

/** The spam settings of an owner who chose nothing. */
export function spamDefaults(config: Config): SpamSettings {
  return defaultSpamSettings(config.spam.maxLinks ?? Number.MAX_SAFE_INTEGER);
}

/** What takes posts. HTTP is given this and the reader, and no database. */
interface PostService {
  readonly gatekeeper: Gatekeeper;
  readonly intake: Intake;
  /** Told when a browser sent a secret key. */
  readonly onSecretInBrowser: (caller: Caller) => void;
  /** Told the address of a request with `X-Forwarded-For` that is not trusted. */
  readonly onUntrustedProxy: (peer: string) => void;
  /** Call before each request: notices what other processes changed. */
  readonly noticeChanges: () => void;
  /** Whether another process has upgraded the database: nothing here fits it any more. */
  readonly isUpgraded: () => boolean;
  /** Whether a post could be stored now: the last commit worked, or a probe that writes does. */
  readonly isWritable: () => boolean;
}

/** Work for a timer, so that nothing stays longer than it should. */
export interface Upkeep {
  /** Each one is a short transaction. Returns how many rows it deleted; 0 when none are left. */
  readonly cleanUps: readonly (() => Promise<number>)[];
  /** The same for submissions that are older than their endpoint keeps them. */
  readonly expire: () => Promise<number>;
  /** Empties the write-ahead log of deleted content, if this can be done at once. */
  readonly clearLog: () => void;
}

/** Everything that serves one database, by who uses it. */
export interface SubmitService {
  readonly posts: PostService;
  readonly reader: SubmissionReader;
  /** Sends the deliveries that posts queued, once it is started. */
  readonly deliverer: Deliverer;
  readonly upkeep: Upkeep;
  /** Opens and seals the secrets of the database. */
  readonly keyring: Keyring;
  /** Sends to webhooks, until the deliverer stops. */
  readonly sender: HttpSender;
  /** Null if no mail server is configured. */
  readonly mail: MailService | null;
  /** Told of each commit that stored submissions, in whatever process. */
  readonly news: News;
  /** Null if the configuration leaves them out. */
  readonly metrics: ExposedMetrics | null;
  /** After a change of settings in this process: what is remembered of them is read again, as when another process changed them. */
  readonly onChange: () => void;
  /** Those that share the database. */
  readonly liveServers: LiveServers;
  /** Resolves when every accepted post is stored. */
  readonly drain: () => Promise<void>;
}

export interface ServiceParts {
  readonly db: SqliteDatabase;
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Log;
  /** Takes the measurements; null measures nothing. */
  readonly metrics: ExposedMetrics | null;
}

/** @throws config_invalid if a key is missing that encrypts secrets of the database, or a file that a setting of `mail` names. */
export function createSubmitService(parts: ServiceParts): SubmitService {
  const { db, config, clock, log, metrics } = parts;
  const keyring = db.now(() => openKeyring(config));
  const verifier = createKeyVerifier(db, clock);
  const directory = createEndpointDirectory(db, config.plans);
  const usage = createUsageCounter(db);
  const outbox = createSqliteOutbox(db);
  const sender = createWebhookSender(config);
  const mail = readMailParts(parts);
  const transports = openTransports(parts, { keyring, sender, mail });
  const deliverer = new Deliverer({ db, outbox, transports, clock, log, random: Math.random });
  const memory = createSpamMemory(createBurstMemory());
  const writability = createWritability(db);
  const news = createNews();
  const observe = watchCommits([measureCommits(metrics ?? noMetrics), logCommits(log)], writability, news);
  const write = createSqliteBatch({ db, usage, outbox, memory, held: config.held });
  const commits = createCommitQueue(write, observe);
  const gatekeeper = openGate(config, verifier, directory);
  const onSecretInBrowser = createBrowserMark(db, clock, log);
  const intake = createIntake({
    gatekeeper,
    usage,
    idempotency: createIdempotencyMemory(db),
    commits,
    recall: (...post) => recallOrRead(db, () => memory.recall(...post)),
    spamSettings: createSpamSettingsReader(db, spamDefaults(config)),
    onSecretInBrowser,
    clock,
  });
  const cleaner = createLogCleaner(db);
  const forgetting = forgetters({ cleaner, usage, memory, deliverer, news, verifier, directory });
  const onChange = (): void => {
    forgetting.onForeignCommit();
    forgetting.onSettingsChange();
  };
  const watch = db.watch([{ ...forgetting, onUpgrade: () => databaseUpgraded(log) }]);
  if (metrics !== null) measureState(metrics, commits, parts);
  return {
    posts: {
      ...countOutcomes(metrics ?? noMetrics, gatekeeper, intake),
      onSecretInBrowser,
      onUntrustedProxy: createProxyWatch(db, clock, log),
      ...watch,
      isWritable: () => writability.isWritable(),
    },
    reader: createSubmissionReader(db, () => cleaner.note(1)),
    deliverer,
    upkeep: createUpkeep(db, config, clock, cleaner),
    keyring,
    sender,
    mail: openMailService(mail, metrics ?? noMetrics, onChange),
    news,
    metrics,
    onChange,
    liveServers: ONLY_SERVER,
    drain: () => commits.drain(),
  };
}

interface Remembering {
  readonly cleaner: LogCleaner;
  readonly usage: Pick<UsageCounter, "forget">;
  readonly memory: Pick<SpamMemory, "forget">;
  readonly deliverer: Deliverer;
  readonly news: News;
  readonly verifier: KeyVerifier;
  readonly directory: EndpointDirectory;
}

/** What is remembered of the database is forgotten when another process changed it. */
function forgetters({ cleaner, usage, memory, deliverer, news, verifier, directory }: Remembering) {
  return {
    onForeignCommit(): void {
      cleaner.suspect();
      usage.forget();
      memory.forget();
      deliverer.reload();
      news.tell();
    },
    onSettingsChange(): void {
      verifier.forgetRecords();
      directory.forget();
    },
  };
}

function openGate(
  { rateLimit: limits }: Config,
  verifier: KeyVerifier,
  directory: EndpointDirectory,
): Gatekeeper {
  const exempt = compileNetworks(limits.exempt);
  return createGatekeeper({ verifier, directory, limiter: createRateLimiter(), limits, exempt });
}

interface TransportParts {
  readonly keyring: Keyring;
  readonly sender: HttpSender;
  /** Null without a mail server: then e-mail waits. */
  readonly mail: MailParts | null;
}

function openTransports(parts: ServiceParts, { keyring, sender, mail }: TransportParts): Transport[] {
  const { db, config, clock, log } = parts;
  const dashboardUrl = dashboardUrlOf(config);
  const settings = config.webhooks;
  const webhooks = createWebhookTransport({ db, keyring, sender, dashboardUrl, settings, clock, log });
  return mail === null ? [webhooks] : [webhooks, openMailTransport(mail)];
}

/** E-mail of every kind shares the connections. Null without a mail server. @throws config_invalid if a file cannot be read that the settings under `mail` name */
function readMailParts({ db, config, clock, log }: ServiceParts): MailParts | null {
  const { baseUrl } = config.server;
  const smtp = readSmtpSettings(config.mail, baseUrl);
  if (smtp === null) return null;
  const dashboardUrl = dashboardUrlOf(config);
  return {
    db,
    smtp,
    sender: createSmtpSender(smtp),
    settings: config.mail,
    baseUrl,
    dashboardUrl,
    clock,
    log,
  };
}

/** Measures and reports each commit, learns from it whether posts can be stored, and tells who waits for news. */
function watchCommits(
  reports: readonly CommitReport[],
  writability: Writability,
  news: News,
): CommitObserver {
  return {
    onCommit(committed, seconds) {
      for (const report of reports) report(committed, seconds);
      // If all of them were refused, nothing had to be written.
      if (!committed.outcomes.includes("stored")) return;
      writability.tell(true);
      news.tell();
    },
    onRefusal: () => writability.tell(false),
  };
}

function createUpkeep(db: SqliteDatabase, config: Config, clock: Clock, cleaner: LogCleaner): Upkeep {
  const noted = async (work: () => Steps<number>): Promise<number> => {
    const deleted = await db.transaction(work);
    cleaner.note(deleted);
    return deleted;
  };
  const keepDeliveries = (kept: KeptDeliveries) => {
    let after = BEFORE_ALL;
    return async (): Promise<number> => {
      const dropped = await db.transaction(() => dropOldDeliveries(kept, after, clock.now()));
      after = dropped.last;
      cleaner.note(dropped.looked);
      return dropped.looked;
    };
  };
  return {
    cleanUps: [
      () => db.transaction(() => forgetExpired(clock.now())),
      () => db.transaction(() => finishGrace(clock.now())),
      () => noted(() => dropExpired(config.held.days, clock.now())),
      () => spreadLate(db, clock.now()),
      () => db.transaction(() => dropEndedSessions(clock.now(), config.dashboard)),
      () => db.transaction(() => dropOldMailedLinks(clock.now())),
      () => db.transaction(() => dropOldChanges(clock.now())),
      keepDeliveries({ kind: WEBHOOK_KIND, days: config.webhooks.keepDeliveredDays }),
      keepDeliveries({ kind: MAIL_KIND, days: config.mail.keepSentDays }),
    ],
    expire: () => noted(() => expireSubmissions(clock.now())),
    clearLog: () => cleaner.clean(),
  };
}

/** The address under which people open the dashboard; null if it is not known or there is none. */
export function dashboardUrlOf({ server, dashboard }: Config): string | null {
  const isThere = dashboard.enabled && dashboard.listen === null;
  return isThere && server.baseUrl !== null ? `${server.baseUrl}/dashboard` : null;
}

/** A sender that obeys the configuration's time limit and address rules. */
export function createWebhookSender({ webhooks }: Config): HttpSender {
  return createHttpSender({
    allowed: parseAllowedNetworks(webhooks.allowNetworks),
    timeoutMs: webhooks.timeoutMs,
    resolveHost: createHostResolver(),
  });
}

/** Registers the values that are read when the metrics are requested. */
function measureState(
  metrics: ExposedMetrics,
  commits: CommitQueue,
  { db, config, clock }: ServiceParts,
): void {
  metrics.gauge("formsvc_commit_queue_submissions", "Submissions that wait for the disk.", () =>
    commits.waiting(),
  );
  measureDatabase(metrics, db, config.backup, clock);
  measureUsage(metrics, db, config.plans, clock);
  for (const names of [WEBHOOK_METRICS, MAIL_METRICS]) measureChannel(names, { metrics, db, clock });
}

/** Time between two notes of the same key in a browser. */
const BROWSER_MARK_INTERVAL_MS = 3_600_000;
/** Most keys whose last note is remembered. */
const MAX_BROWSER_MARKS = 1000;

/** A page that leaks a secret key may be busy: the key is noted once an hour. */
function createBrowserMark(db: SqliteDatabase, clock: Clock, log: Log): (caller: Caller) => void {
  const marked = new Map<string, number>();
  return ({ key }) => {
    const now = clock.now();
    if (now - (marked.get(key.id) ?? -Infinity) < BROWSER_MARK_INTERVAL_MS) return;
    if (marked.size >= MAX_BROWSER_MARKS) marked.clear();
    marked.set(key.id, now);
    keySeenInBrowser(log, { keyId: key.id, endpointId: key.endpointId });
    db.transaction(() => markSeenInBrowser(key, now)).catch((error: unknown) =>
      maintenanceFailed(log, error),
    );
  };
}
