import type { ServedDatabase } from "../database/served-database.ts";
import type { FileLinks } from "../files/file-links.ts";
import { type ExposedMetrics, noMetrics } from "../foundation/metrics.ts";
import type { RateLimiter } from "../foundation/rate-limit.ts";
import { type MailService, openMailService } from "../mail/open-mail.ts";
import { Deliverer } from "../outbox/sending/deliverer.ts";
import type { Keyring } from "../secrets/keyring.ts";
import type { FileScanner } from "../submissions/files/file-scanner.ts";
import type { News } from "../submissions/find/news.ts";
import { type Changes, watchChanges } from "./changes.ts";
import { openEngine } from "./engine.ts";
import { openFileLinks, openKeyring } from "./features.ts";
import { measureState } from "./measure-state.ts";
import { openMemories } from "./memories.ts";
import { serveObjects } from "./open-objects.ts";
import { openPosts, type PostService } from "./open-posts.ts";
import { openScanner } from "./open-scanner.ts";
import { openSubmissions, type SubmissionService } from "./open-submissions.ts";
import type { ServiceParts } from "./parts.ts";
import { openTransports, type WebhookService } from "./transports.ts";
import { createUpkeep, type Upkeep } from "./upkeep.ts";

/** Everything that serves one database, grouped by who uses it. */
export interface SubmitService {
  readonly posts: PostService;
  readonly submissions: SubmissionService;
  readonly webhooks: WebhookService;
  /** Null if no mail server is configured. */
  readonly mail: MailService | null;
  /** Sends the deliveries that posts queued, once it is started. */
  readonly deliverer: Deliverer;
  /** Has files scanned for viruses, once it is started. */
  readonly scanner: FileScanner;
  readonly upkeep: Upkeep;
  /** Encrypts and decrypts the secrets of the database. */
  readonly keyring: Keyring;
  readonly fileLinks: FileLinks;
  /** Announces each commit that stored submissions, by this process or another one. */
  readonly news: News;
  readonly onChange: Changes["onChange"];
  /** Null if the configuration turns them off. */
  readonly metrics: ExposedMetrics | null;
  /** Counts requests by client. */
  readonly limiter: RateLimiter;
  /** The parts of the database's server side that are not in rows. */
  readonly served: ServedDatabase;
}

/**
 * Builds everything. @throws config_invalid if a key is missing that secrets of the database are encrypted with, or a file that a setting
 * of `mail` names.
 */
export async function createSubmitService(parts: ServiceParts): Promise<SubmitService> {
  const { db, config, clock, log, metrics } = parts;
  serveObjects(parts);
  const keyring = await db.read(() => openKeyring(config));
  const fileLinks = openFileLinks(parts, keyring);
  const memories = openMemories(parts);
  const { usage, spam, news } = memories;
  const { transports, webhooks, mail, mayReply } = openTransports(parts, keyring);
  const engine = await openEngine(parts, { usage, spam, mayReply });
  const { served, outbox, claims, limiter } = engine;

  const deliverer = new Deliverer({ db, claims, outbox, transports, clock, log, random: Math.random });
  deliverer.onQueuedForOthers(() => served.notifyOthers());
  const upkeep = createUpkeep(parts, engine);
  const { watch, onChange } = watchChanges(parts, engine, { memories, deliverer, upkeep });
  const scanner = openScanner(parts, { fileLinks, deliverer, served, news, upkeep });
  const posts = openPosts(parts, { keyring, fileLinks, memories, engine, watch, scanner });
  if (metrics !== null) measureState(metrics, parts, served);
  return {
    posts,
    submissions: openSubmissions(parts, served, fileLinks),
    webhooks,
    mail: openMailService(mail, { metrics: metrics ?? noMetrics, served, config, onChange }),
    deliverer,
    scanner,
    upkeep,
    keyring,
    fileLinks,
    news,
    onChange,
    metrics,
    limiter,
    served,
  };
}
