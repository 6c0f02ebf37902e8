import type { ServedDatabase } from "../database/served-database.ts";
import type { FileLinks } from "../files/file-links.ts";
import { databaseUpgraded, maintenanceFailed } from "../foundation/events.ts";
import type { Log } from "../foundation/log.ts";
import { type ExposedMetrics, noMetrics } from "../foundation/metrics.ts";
import type { RateLimiter } from "../foundation/rate-limit.ts";
import { memoryHead } from "../history/spam-memory.ts";
import { replyLimitsOf } from "../mail/auto-reply/reply-limits.ts";
import { AUTO_REPLY_METRICS, MAIL_METRICS } from "../mail/mail-metrics.ts";
import { type MailService, openMailService, openMayReply } from "../mail/open-mail.ts";
import { measureKind } from "../outbox/queue/kind-metrics.ts";
import { Deliverer } from "../outbox/sending/deliverer.ts";
import { deliveryHeads } from "../outbox/queue/delivery-heads.ts";
import type { Keyring } from "../secrets/keyring.ts";
import { createLinkedFiles, type LinkedFiles } from "../submissions/files/linked-files.ts";
import type { LimitNews } from "../submissions/commit/limit-news.ts";
import { newsHead, type News } from "../submissions/find/news.ts";
import type { ImportSpool } from "../submissions/import/import-spool.ts";
import type { FileScanner } from "../submissions/files/file-scanner.ts";
import { openScanner } from "./open-scanner.ts";
import { openImports } from "./open-uploads.ts";
import { SearchSlots } from "../submissions/find/search-slots.ts";
import { createSubmissionReader, type SubmissionReader } from "../submissions/find/submission-reader.ts";
import type { HttpSender } from "../webhooks/send.ts";
import { WEBHOOK_METRICS } from "../webhooks/webhook-metrics.ts";
import { measureUsage } from "../workspaces/workspace-metrics.ts";
import { openEngine } from "./engine.ts";
import { openFileLinks, openKeyring } from "./features.ts";
import { forgetChanges, openMemories } from "./memories.ts";
import { serveObjects } from "./open-objects.ts";
import { openPosts, type PostService } from "./open-posts.ts";
import { TestSlots } from "../webhooks/test-slots.ts";
import type { ServiceParts } from "./parts.ts";
import { createWebhookSender, openTransports, readMailParts } from "./transports.ts";
import { createUpkeep, type Upkeep } from "./upkeep.ts";

/** Everything that serves one database, by who uses it. */
export interface SubmitService {
  readonly posts: PostService;
  readonly reader: SubmissionReader;
  readonly linkedFiles: LinkedFiles;
  /** For everything in this server that looks at submissions one by one. */
  readonly searches: SearchSlots;
  readonly imports: ImportSpool;
  /** For tests of webhooks, which hold the sender's slots. */
  readonly testSlots: TestSlots;
  /** Sends the deliveries that posts queued, once it is started. */
  readonly deliverer: Deliverer;
  /** Has files scanned for viruses, once it is started. */
  readonly scanner: FileScanner;
  readonly upkeep: Upkeep;
  /** Opens and seals the secrets of the database. */
  readonly keyring: Keyring;
  readonly fileLinks: FileLinks;
  /** Sends to webhooks, until the deliverer stops. */
  readonly sender: HttpSender;
  /** Null if no mail server is configured. */
  readonly mail: MailService | null;
  /** Called for each commit that stored submissions, in whatever process. */
  readonly news: News;
  /** Called for commits that bring a workspace near its monthly limit. */
  readonly limitNews: LimitNews;
  /** Null if the configuration leaves them out. */
  readonly metrics: ExposedMetrics | null;
  /**
   * After a change of settings in this process: what is remembered of them is read again, as when another process changed them. After
   * what may have deleted something (`danger`), the write-ahead log is emptied.
   */
  readonly onChange: (kind?: "write" | "danger") => void;
  /** Counts requests by whoever sends them. */
  readonly limiter: RateLimiter;
  /** What the server has of its database besides the rows. */
  readonly served: ServedDatabase;
  /** Resolves when every accepted post is stored. */
  readonly drain: () => Promise<void>;
}

/** @throws config_invalid if a key is missing that encrypts secrets of the database, or a file that a setting of `mail` names. */
export async function createSubmitService(parts: ServiceParts): Promise<SubmitService> {
  const { db, config, clock, log, metrics } = parts;
  serveObjects(parts);
  const keyring = await db.read(() => openKeyring(config));
  const fileLinks = openFileLinks(parts, keyring);
  const memories = openMemories(parts);
  const { usage, spam, news } = memories;
  const sender = createWebhookSender(config);
  const mail = readMailParts(parts);
  const transports = openTransports(parts, { keyring, sender, mail });
  const mayReply = openMayReply(mail, replyLimitsOf(config));
  const engine = await openEngine(parts, { usage, spam, mayReply });
  const { served, outbox, claims } = engine;
  const deliverer = new Deliverer({ db, claims, outbox, transports, clock, log, random: Math.random });
  deliverer.onQueuedForOthers(() => served.notifyOthers());

  const { onForeignCommit, onSettingsChange } = forgetChanges(memories, served.cleaner, deliverer);
  const upkeep = createUpkeep(db, config, clock, engine);
  const onChange: SubmitService["onChange"] = (kind = "write") => {
    onForeignCommit();
    onSettingsChange();
    // Whoever deletes something hears that it is done when nothing holds it any more.
    if (kind === "danger") clearLog(upkeep, log);
  };
  const listener = { onForeignCommit, onSettingsChange, onUpgrade: () => databaseUpgraded(log) };
  const watch = served.watch(listener, [newsHead(news), ...deliveryHeads(deliverer), memoryHead(spam)]);
  const scanner = openScanner(parts, fileLinks, {
    onQueued() {
      deliverer.reload();
      served.notifyOthers();
      news.announce();
    },
    onDeleted() {
      served.cleaner.note(1);
      clearLog(upkeep, log);
    },
  });
  const { posts, limitNews, drain } = openPosts(
    { ...parts, fileLinks, keyring, scanner },
    engine,
    memories,
    watch,
  );
  const searches = new SearchSlots();
  if (metrics !== null) measureState(metrics, parts, served);
  return {
    posts,
    reader: createSubmissionReader(db, searches, () => served.cleaner.note(1)),
    linkedFiles: createLinkedFiles({ db, fileLinks, clock }),
    searches,
    imports: openImports(parts, served),
    testSlots: new TestSlots(),
    deliverer,
    scanner,
    upkeep,
    keyring,
    fileLinks,
    sender,
    mail: openMailService(mail, { metrics: metrics ?? noMetrics, served, config, onChange }),
    news,
    limitNews,
    metrics,
    onChange,
    limiter: engine.limiter,
    served,
    drain,
  };
}

/** A deletion is done whatever becomes of this: the clean-ups try again. */
function clearLog(upkeep: Upkeep, log: Log): void {
  try {
    upkeep.clearLog();
  } catch (error) {
    maintenanceFailed(log, error);
  }
}

/** Registers the values that are read when the metrics are requested. */
function measureState(
  metrics: ExposedMetrics,
  { db, config, clock }: ServiceParts,
  served: ServedDatabase,
): void {
  served.measure(metrics);
  measureUsage(metrics, db, config.plans, clock);
  for (const names of [WEBHOOK_METRICS, MAIL_METRICS, AUTO_REPLY_METRICS])
    measureKind(names, { metrics, db, clock });
}
