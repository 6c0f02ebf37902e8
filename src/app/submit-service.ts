import type { Config } from "../config/config.ts";
import type { Blindness } from "../database/database.ts";
import type { LogCleaner, ServedDatabase, Writability } from "../database/served-database.ts";
import { recallOrRead } from "../database/recall-or-read.ts";
import { createEndpointDirectory, type EndpointDirectory } from "../endpoints/endpoint-directory.ts";
import { databaseUpgraded, maintenanceFailed, originRefused } from "../foundation/events.ts";
import { compileNetworks } from "../foundation/ip-address.ts";
import { type ExposedMetrics, noMetrics } from "../foundation/metrics.ts";
import { AUTO_REPLY_METRICS, MAIL_METRICS } from "../mail/mail-metrics.ts";
import { type MailService, openMailService, openMayReply } from "../mail/open-mail.ts";
import { replyLimitsOf } from "../mail/auto-reply/reply-limits.ts";
import { createKeyVerifier, type KeyVerifier } from "../keys/verify-key.ts";
import {
  type Caller,
  createGatekeeper,
  type Gatekeeper,
  type GatekeeperParts,
} from "../submissions/authenticate.ts";
import { createBurstMemory } from "../history/burst-memory.ts";
import { type CommitObserver, type CommitQueue, createCommitQueue } from "../submissions/commit-batch.ts";
import { createHeldRoom, heldByteLimit, type HeldRoom } from "../submissions/held-room.ts";
import { createIdempotencyMemory } from "../submissions/idempotency.ts";
import { createIntake, type Intake } from "../submissions/receive-submission.ts";
import {
  type CommitReport,
  countOutcomes,
  logCommits,
  measureCommits,
  measureHeld,
  reportEvictions,
} from "../submissions/submit-metrics.ts";
import { createLimitNews, type LimitNews } from "../submissions/limit-news.ts";
import { createOriginRefusals, type OriginRefusals } from "../submissions/origin-refusals.ts";
import type { RateLimiter } from "../foundation/rate-limit.ts";
import { createNews, newsHead, type News } from "../submissions/news.ts";
import { createRedirectWatch } from "../submissions/ignored-redirect.ts";
import { createProxyWatch } from "../submissions/untrusted-proxy.ts";
import type { Keyring } from "../secrets/keyring.ts";
import { createSpamMemory, memoryHead, type SpamMemory } from "../history/spam-memory.ts";
import { SearchPlaces } from "../submissions/search-places.ts";
import { createSubmissionReader, type SubmissionReader } from "../submissions/submission-reader.ts";
import { measureChannel } from "../outbox/channel-metrics.ts";
import { Deliverer } from "../outbox/deliverer.ts";
import { deliveryHeads } from "../outbox/delivery-heads.ts";
import { WEBHOOK_METRICS } from "../webhooks/webhook-metrics.ts";
import type { HttpSender } from "../webhooks/send.ts";
import { createUsageCounter, type UsageCounter } from "../workspaces/usage-counter.ts";
import { measureUsage } from "../workspaces/workspace-metrics.ts";
import type { ServiceParts } from "./parts.ts";
import { openEngine } from "./engine.ts";
import { openKeyring, spamDefaults } from "./features.ts";
import { createWebhookSender, openTransports, readMailParts } from "./transports.ts";
import { createUpkeep, type Upkeep } from "./upkeep.ts";
import { createBrowserMark } from "../submissions/browser-mark.ts";

/** What takes posts. HTTP is given this and the reader, and no database. */
interface PostService {
  readonly gatekeeper: Gatekeeper;
  readonly intake: Intake;
  /** Told when a browser sent a secret key. */
  readonly onSecretInBrowser: (caller: Caller) => void;
  /** Told the address of a request with `X-Forwarded-For` that is not trusted. */
  readonly onUntrustedProxy: (peer: string) => void;
  /** Told of a form whose page after success is on a site that it may not lead to. */
  readonly onIgnoredRedirect: (endpointId: string, origin: string) => void;
  /** Call before each request: notices what other processes changed. */
  readonly noticeChanges: () => void;
  /** Why no key can be judged now; null if it can. */
  readonly blindness: () => Blindness | null;
  /** Whether a post could be stored now. */
  readonly isWritable: () => boolean;
  /** Whether it could not because commits wait for a lost standby. */
  readonly awaitsStandby: () => boolean;
}

/** Everything that serves one database, by who uses it. */
export interface SubmitService {
  readonly posts: PostService;
  readonly reader: SubmissionReader;
  /** For everything in this server that looks at submissions one by one. */
  readonly searches: SearchPlaces;
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
  /** Told of commits that bring a workspace near its monthly limit. */
  readonly limitNews: LimitNews;
  /** Null if the configuration leaves them out. */
  readonly metrics: ExposedMetrics | null;
  /** After a change of settings in this process: what is remembered of them is read again, as when another process changed them. */
  readonly onChange: () => void;
  /** What the server has of its database besides the rows. */
  readonly served: ServedDatabase;
  /** Resolves when every accepted post is stored. */
  readonly drain: () => Promise<void>;
}

/** @throws config_invalid if a key is missing that encrypts secrets of the database, or a file that a setting of `mail` names. */
export async function createSubmitService(parts: ServiceParts): Promise<SubmitService> {
  const { db, config, clock, log, metrics } = parts;
  const keyring = await db.read(() => openKeyring(config));
  const verifier = createKeyVerifier(db, clock);
  const directory = createEndpointDirectory(db, { plans: config.plans, defaults: spamDefaults(config) });
  const usage = createUsageCounter(db);
  const sender = createWebhookSender(config);
  const mail = readMailParts(parts);
  const transports = openTransports(parts, { keyring, sender, mail });
  const memory = createSpamMemory(createBurstMemory());
  const news = createNews();
  const searches = new SearchPlaces();
  const mayReply = openMayReply(mail, replyLimitsOf(config));
  const engine = await openEngine({ ...parts, usage, memory, mayReply });
  const { served, outbox, claims } = engine;
  const { writability, cleaner } = served;
  const deliverer = new Deliverer({ db, claims, outbox, transports, clock, log, random: Math.random });
  const room = openHeldRoom(parts, served);
  const limitNews = createLimitNews();
  const reports = [measureCommits(metrics ?? noMetrics), logCommits(log), room.note, limitNews.report];
  const observe = watchCommits(reports, writability, news);
  const commits = createCommitQueue(engine.write, observe);
  const gatekeeper = openGate(config.rateLimit, { verifier, directory, limiter: engine.limiter });
  const onSecretInBrowser = createBrowserMark(db, clock, log);
  const refusals = openRefusals(parts, engine.limiter);
  const intake = createIntake({
    gatekeeper,
    usage,
    idempotency: createIdempotencyMemory(db),
    commits,
    recall: (...post) => recallOrRead(db, () => memory.recall(...post)),
    onSecretInBrowser,
    refusals,
    clock,
  });
  const forgetting = forgetters({ cleaner, usage, memory, deliverer, news, verifier, directory });
  const onChange = (): void => {
    forgetting.onForeignCommit();
    forgetting.onSettingsChange();
  };
  deliverer.onQueuedForOthers(() => served.tell());
  const heads = [newsHead(news), ...deliveryHeads(deliverer), memoryHead(memory)];
  const watch = served.watch({ ...forgetting, onUpgrade: () => databaseUpgraded(log) }, heads);
  if (metrics !== null) measureState(metrics, { ...parts, commits, served });
  return {
    posts: {
      ...countOutcomes(metrics ?? noMetrics, gatekeeper, intake),
      onSecretInBrowser,
      onUntrustedProxy: createProxyWatch(db, clock, log),
      onIgnoredRedirect: createRedirectWatch(db, clock, log),
      ...watch,
      isWritable: () => writability.isWritable(),
      awaitsStandby: () => writability.awaitsStandby(),
    },
    reader: createSubmissionReader(db, searches, () => cleaner.note(1)),
    searches,
    deliverer,
    upkeep: createUpkeep(db, config, clock, engine),
    keyring,
    sender,
    mail: openMailService(mail, { metrics: metrics ?? noMetrics, servers: served.liveServers, onChange }),
    news,
    limitNews,
    metrics,
    onChange,
    served,
    drain: () => settle(commits, room, refusals),
  };
}

async function settle(commits: CommitQueue, room: HeldRoom, refusals: OriginRefusals): Promise<void> {
  await commits.drain();
  await Promise.all([room.settle(), refusals.settle()]);
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
      usage.forget();
      memory.forget();
      deliverer.reload();
      verifier.forgetRecords();
      directory.forget();
    },
  };
}

function openGate(
  limits: Config["rateLimit"],
  parts: Pick<GatekeeperParts, "verifier" | "directory" | "limiter">,
): Gatekeeper {
  return createGatekeeper({ ...parts, limits, exempt: compileNetworks(limits.exempt) });
}

/** Counts posts of pages whose origin is not allowed. */
function openRefusals({ db, clock, log }: ServiceParts, limiter: RateLimiter): OriginRefusals {
  return createOriginRefusals({
    db,
    clock,
    limiter,
    onRefusals: ({ endpointId, origin, posts }) => originRefused(log, { endpointId, origin, posts }),
    onFailure: (error) => maintenanceFailed(log, error),
  });
}

/** Bounds what all held posts take, and reports what had to go for any bound. */
function openHeldRoom({ db, config, clock, log, metrics }: ServiceParts, served: ServedDatabase): HeldRoom {
  const maxBytes = heldByteLimit(config.held.maxBytes, () => served.freeBytes());
  if (metrics !== null) measureHeld(metrics, db, maxBytes);
  return createHeldRoom({
    db,
    clock,
    maxBytes,
    onEviction: reportEvictions(metrics ?? noMetrics, log),
    onFailure: (error) => maintenanceFailed(log, error),
  });
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

interface Measured {
  readonly commits: CommitQueue;
  readonly served: ServedDatabase;
}

/** Registers the values that are read when the metrics are requested. */
function measureState(
  metrics: ExposedMetrics,
  { db, config, clock, commits, served }: ServiceParts & Measured,
): void {
  metrics.gauge("formsvc_commit_queue_submissions", "Submissions that wait for the disk.", () =>
    commits.waiting(),
  );
  served.measure(metrics);
  measureUsage(metrics, db, config.plans, clock);
  for (const names of [WEBHOOK_METRICS, MAIL_METRICS, AUTO_REPLY_METRICS])
    measureChannel(names, { metrics, db, clock });
}
