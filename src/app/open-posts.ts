import type { Blindness, ChangeWatch } from "../database/database.ts";
import { findPageNamed } from "../endpoints/page-name.ts";
import { recallOrRead } from "../database/recall-or-read.ts";
import type { ServedDatabase } from "../database/served-database.ts";
import { maintenanceFailed, originRefused } from "../foundation/events.ts";
import { compileNetworks } from "../foundation/ip-address.ts";
import { noMetrics } from "../foundation/metrics.ts";
import type { RateLimiter } from "../foundation/rate-limit.ts";
import { type Caller, createGatekeeper, type Gatekeeper } from "../submissions/receive/authenticate.ts";
import { createBrowserMark } from "../submissions/receive/browser-mark.ts";
import { type Challenges, createChallenges } from "../submissions/receive/check-challenge.ts";
import {
  type CommitObserver,
  type CommitQueue,
  createCommitQueue,
} from "../submissions/commit/commit-batch.ts";
import { createHeldRoom, heldByteLimit, type HeldRoom } from "../submissions/commit/held-room.ts";
import { createIdempotencyMemory } from "../submissions/commit/idempotency.ts";
import { createPageWatch, type PageWatch } from "../submissions/receive/page-faults.ts";
import { createLimitNews, type LimitNews } from "../submissions/commit/limit-news.ts";
import { createOriginRefusals, type OriginRefusals } from "../submissions/receive/origin-refusals.ts";
import type { FileScanner } from "../submissions/files/file-scanner.ts";
import { createIntake, type Intake, type IntakeParts } from "../submissions/receive/receive-submission.ts";
import {
  type CommitReport,
  countOutcomes,
  logCommits,
  measureCommits,
  measureHeld,
  reportEvictions,
} from "../submissions/receive/submit-metrics.ts";
import { createProxyWatch } from "../submissions/receive/untrusted-proxy.ts";
import type { Keyring } from "../secrets/keyring.ts";
import { objectsOf } from "../files/object-store.ts";
import type { FileLinks } from "../files/file-links.ts";
import type { Uploads } from "../files/uploads.ts";
import { type FileDrop, newObjectsOf, openFileDrop, openFileRoom, openUploads } from "./open-uploads.ts";
import type { Memories } from "./memories.ts";
import type { Engine, ServiceParts } from "./parts.ts";

/** What takes posts. HTTP gets this and the reader of submissions, and no database. */
export interface PostService {
  readonly gatekeeper: Gatekeeper;
  readonly intake: Intake;
  readonly challenges: Pick<Challenges, "make">;
  readonly uploads: Uploads;
  /** Called if a browser sent a secret key. */
  readonly onSecretInBrowser: (caller: Caller) => void;
  /** Called with the peer's address if a request has an `X-Forwarded-For` that is not trusted. */
  readonly onUntrustedProxy: (peer: string) => void;
  /** Called if the page after success is on a site that the form may not lead to. */
  readonly onPageFault: PageWatch;
  /** Call before each request: it notices changes that other processes made. */
  readonly noticeChanges: () => void;
  /** Why no key can be checked now; null if keys can be checked. */
  readonly blindness: () => Blindness | null;
  /** Whether a post could be stored now. */
  readonly isWritable: () => boolean;
  /** Whether posts cannot be stored because commits wait for a lost standby. */
  readonly awaitsStandby: () => boolean;
  /** Reports commits that bring a workspace near its monthly limit. */
  readonly limitNews: LimitNews;
  /** Resolves when every accepted post is stored. */
  readonly drain: () => Promise<void>;
}

interface PostParts {
  readonly keyring: Keyring;
  readonly fileLinks: FileLinks;
  readonly memories: Memories;
  readonly engine: Engine;
  /** Notices what other processes changed. */
  readonly watch: ChangeWatch;
  readonly scanner: Pick<FileScanner, "wake">;
}

/** Opens the way of a post, from its key to the commit. */
export function openPosts(parts: ServiceParts, given: PostParts): PostService {
  const { db, clock, log } = parts;
  const { watch, engine, memories } = given;
  const { served, limiter } = engine;
  const metrics = parts.metrics ?? noMetrics;
  const { commits, limitNews, heldRoom } = openCommits(parts, given);
  const fileRoom = openFileRoom(parts);
  const fileDrop = openFileDrop(parts, fileRoom);
  const refusals = openRefusals(parts, limiter);
  const challenges = openChallenges(parts, given.keyring);
  const onSecretInBrowser = createBrowserMark(db, clock, log);
  const gate = openGate(parts, memories, limiter);
  const steps = { gatekeeper: gate, commits, refusals, challenges, onSecretInBrowser, fileRoom, fileDrop };
  const { gatekeeper, intake } = countOutcomes(metrics, gate, openIntake(parts, given, steps));
  return {
    gatekeeper,
    intake,
    challenges,
    uploads: openUploads(parts, served, fileRoom),
    onSecretInBrowser,
    onUntrustedProxy: createProxyWatch(db, clock, log),
    onPageFault: createPageWatch(db, clock, log),
    noticeChanges: watch.noticeChanges,
    blindness: watch.blindness,
    isWritable: () => served.writability.isWritable(),
    awaitsStandby: () => served.writability.awaitsStandby(),
    limitNews,
    async drain() {
      await commits.drain();
      await Promise.all([heldRoom.settle(), refusals.settle(), fileDrop.settle()]);
      // Deletions that still wait for the file store are done after the next start.
      await objectsOf(db)?.close();
    },
  };
}

interface OpenedCommits {
  readonly commits: CommitQueue;
  readonly limitNews: LimitNews;
  readonly heldRoom: HeldRoom;
}

/** Opens the queue of commits, and the reports that each commit is given to. */
function openCommits(
  parts: ServiceParts,
  { engine, memories, scanner }: Pick<PostParts, "engine" | "memories" | "scanner">,
): OpenedCommits {
  const { served, write } = engine;
  const metrics = parts.metrics ?? noMetrics;
  const heldRoom = openHeldRoom(parts, served);
  const limitNews = createLimitNews();
  const reports = [
    measureCommits(metrics),
    logCommits(parts.log),
    heldRoom.note,
    limitNews.report,
    wakeScanner(scanner),
  ];
  const commits = createCommitQueue(write, watchCommits(reports, served, memories));
  metrics.gauge("formsvc_commit_queue_submissions", "Submissions that wait for the disk.", () =>
    commits.waiting(),
  );
  return { commits, limitNews, heldRoom };
}

interface IntakeSteps extends Pick<
  IntakeParts,
  "gatekeeper" | "commits" | "refusals" | "challenges" | "onSecretInBrowser" | "fileRoom"
> {
  readonly fileDrop: FileDrop;
}

function openIntake(
  { db, config: { held, files }, clock }: ServiceParts,
  { memories: { usage, spam }, fileLinks }: Pick<PostParts, "memories" | "fileLinks">,
  { gatekeeper, commits, refusals, challenges, onSecretInBrowser, fileRoom, fileDrop }: IntakeSteps,
): Intake {
  return createIntake({
    gatekeeper,
    usage,
    idempotency: createIdempotencyMemory(db),
    commits,
    recall: (...post) => recallOrRead(db, () => spam.recall(...post)),
    onSecretInBrowser,
    refusals,
    challenges,
    clock,
    linkFiles: (...data) => fileLinks.link(...data),
    fileRoom,
    objects: newObjectsOf(db),
    heldFileBytes: held.maxFileBytes,
    dropFiles: (taken) => fileDrop.drop(taken),
    scanWaitMs: files.clamd === null ? null : files.scanWaitMs,
  });
}

function openChallenges({ db, config, clock, log }: ServiceParts, keyring: Keyring): Challenges {
  return createChallenges({
    db,
    keyring,
    clock,
    settings: config.challenge,
    onFailure: (error) => maintenanceFailed(log, error),
  });
}

function openGate(
  { db, config: { rateLimit: limits } }: ServiceParts,
  { verifier, directory }: Memories,
  limiter: RateLimiter,
): Gatekeeper {
  return createGatekeeper({
    verifier,
    directory,
    findNamed: (name) => db.read(() => findPageNamed(name)),
    limiter,
    limits,
    exempt: compileNetworks(limits.exempt),
  });
}

/** Wakes the scanner after a commit with files, so that they are scanned at once. */
function wakeScanner(scanner: Pick<FileScanner, "wake">): CommitReport {
  return ({ batch }) => {
    if (batch.some(({ waitsUntil = null }) => waitsUntil !== null)) scanner.wake();
  };
}

/** Counts posts from pages whose origin is not allowed. */
function openRefusals({ db, clock, log }: ServiceParts, limiter: RateLimiter): OriginRefusals {
  return createOriginRefusals({
    db,
    clock,
    limiter,
    onRefusals: ({ endpointId, origin, posts }) => originRefused(log, { endpointId, origin, posts }),
    onFailure: (error) => maintenanceFailed(log, error),
  });
}

/** Bounds the room of all held posts, and reports each post that had to be deleted for any of the bounds. */
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

/** Measures and reports each commit, learns from it whether posts can be stored, and announces it as news. */
function watchCommits(
  reports: readonly CommitReport[],
  { writability }: ServedDatabase,
  { news }: Memories,
): CommitObserver {
  return {
    onCommit(committed, seconds) {
      for (const report of reports) report(committed, seconds);
      // If all posts of the commit were refused, nothing was written, so it shows nothing about the database.
      if (!committed.outcomes.includes("stored")) return;
      writability.report(true);
      news.announce();
    },
    onRefusal: () => writability.report(false),
  };
}
