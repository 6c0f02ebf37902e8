import type { SqliteDatabase } from "../database/sqlite/sqlite-database.ts";
import { toIsoTime } from "../foundation/clock.ts";
import { newId } from "../foundation/id.ts";

/** What of a submission its notification tells, beside the data. */
export interface NotifiedSubmission {
  readonly id: string;
  readonly endpointId: string;
  readonly spamScore: number;
  readonly ipAddress: string;
  readonly userAgent: string;
  readonly createdAt: number;
}

/**
 * What comes before and after a submission's data in the body of its `submission.created`, as its row keeps them; null
 * where no webhook wants it.
 */
export interface EventParts {
  readonly head: string | null;
  readonly tail: string | null;
}

/** A message's id and its submission's, as a row of the outbox has them. */
export type QueuedMessage = readonly [id: string, submissionId: string];

/** Use it inside the transaction that stores submissions: {@link Outbox.enqueue} for each, {@link Outbox.write} last. */
export interface Outbox {
  /**
   * Queues a submission for every webhook of its endpoint that wants it. What it returns goes into the submission's row.
   * Where that is not stored after all, nothing is sent.
   */
  enqueue(submission: NotifiedSubmission, now: number): EventParts;
  /** Writes what was queued since the transaction began: few rows, however many messages. */
  write(): void;
  /** Call after that transaction, however it ended: wakes whoever sends, where something was queued. */
  announce(): void;
  /** Who sends. */
  onQueued(listener: () => void): void;
  /** Webhooks that got something since the last call; after a rollback it may name some that did not. */
  takeTouched(): Set<string>;
  /** How many messages were queued since the process began. */
  queuedSoFar(): number;
  /** This process changed webhooks; what other processes change is noticed. */
  forget(): void;
}

interface Target {
  readonly id: string;
  readonly max_spam_score: number;
  readonly endpoint_name: string;
}

/** Whoever takes only some of a row's messages writes the rest of it anew. */
const MAX_MESSAGES_A_ROW = 64;

/** Endpoints whose webhooks are held in memory; all are read anew beyond this. */
const MAX_KNOWN_ENDPOINTS = 5000;

const NO_EVENT: EventParts = { head: null, tail: null };

export const ENQUEUE_SQL = {
  targets: `SELECT webhook.id, webhook.max_spam_score, endpoint.name AS endpoint_name
    FROM webhook JOIN endpoint ON endpoint.id = webhook.endpoint_id WHERE webhook.endpoint_id = ?`,
  outbox: "INSERT INTO outbox (webhook_id, queued_at, message_count, messages) VALUES (?, ?, ?, ?)",
} as const;

export function createOutbox(db: SqliteDatabase): Outbox {
  const targets = createTargetMemory(db);
  const insertRow = db.prepare(ENQUEUE_SQL.outbox);
  /** Of the transaction under way, by webhook. */
  const queues = new Map<string, QueuedMessage[]>();
  let touched = new Set<string>();
  let queuedAt = 0;
  let queued = 0;
  let wake = (): void => undefined;

  const queue = (webhookId: string, message: QueuedMessage): void => {
    const messages = queues.get(webhookId);
    if (messages === undefined) queues.set(webhookId, [message]);
    else messages.push(message);
    queued += 1;
  };

  return {
    enqueue(submission, now) {
      const { id, endpointId, spamScore } = submission;
      const wanting = targets.read(endpointId).filter((target) => target.max_spam_score >= spamScore);
      const [first] = wanting;
      if (first === undefined) return NO_EVENT;
      queuedAt = now;
      for (const target of wanting) queue(target.id, [newId("msg", now), id]);
      return renderAround(submission, first.endpoint_name, now);
    },
    write() {
      for (const [webhookId, messages] of queues) {
        for (let first = 0; first < messages.length; first += MAX_MESSAGES_A_ROW) {
          const some = messages.slice(first, first + MAX_MESSAGES_A_ROW);
          insertRow.run(webhookId, queuedAt, some.length, JSON.stringify(some));
        }
      }
    },
    announce() {
      targets.endTransaction();
      for (const webhookId of queues.keys()) touched.add(webhookId);
      queues.clear();
      if (touched.size > 0) wake();
    },
    onQueued(listener) {
      wake = listener;
    },
    takeTouched() {
      const taken = touched;
      touched = new Set();
      return taken;
    },
    queuedSoFar: () => queued,
    forget: () => targets.forget(),
  };
}

/** The webhooks of each endpoint, read once as long as nobody else writes. */
function createTargetMemory(db: SqliteDatabase) {
  const select = db.prepare(ENQUEUE_SQL.targets);
  const dataVersion = db.prepare("PRAGMA data_version").pluck();
  const byEndpoint = new Map<string, readonly Target[]>();
  let seenVersion: unknown = null;
  let isUpToDate = false;
  return {
    read(endpointId: string): readonly Target[] {
      // Inside the transaction nobody else can change a webhook, so one look a transaction is exact.
      if (!isUpToDate && dataVersion.get() !== seenVersion) {
        seenVersion = dataVersion.get();
        byEndpoint.clear();
      }
      isUpToDate = true;
      const known = byEndpoint.get(endpointId);
      if (known !== undefined) return known;
      if (byEndpoint.size >= MAX_KNOWN_ENDPOINTS) byEndpoint.clear();
      const read = select.all(endpointId) as Target[];
      byEndpoint.set(endpointId, read);
      return read;
    },
    endTransaction(): void {
      isUpToDate = false;
    },
    forget: () => byEndpoint.clear(),
  };
}

/** Each part is JSON of its own, for speed. The data between is the JSON that the submission's row holds. */
function renderAround(
  submission: NotifiedSubmission,
  endpointName: string,
  now: number,
): { readonly head: string; readonly tail: string } {
  const { id, endpointId, spamScore, ipAddress, userAgent, createdAt } = submission;
  const timestamp = toIsoTime(now);
  const created = createdAt === now ? timestamp : toIsoTime(createdAt);
  const endpoint = `{"id":"${endpointId}","name":${JSON.stringify(endpointName)}}`;
  const client = `"ip_address":${JSON.stringify(ipAddress)},"user_agent":${JSON.stringify(userAgent)}`;
  return {
    head: `{"event":"submission.created","timestamp":"${timestamp}","endpoint":${endpoint},"submission":{"id":"${id}","data":`,
    tail: `,"spam_score":${spamScore},${client},"created_at":"${created}"}}`,
  };
}

/** The body of `submission.created`, well-formed as signatures need it. @param data JSON */
export function renderBody(
  submission: NotifiedSubmission,
  data: string,
  endpointName: string,
  now: number,
): string {
  const { head, tail } = renderAround(submission, endpointName, now);
  return head + data + tail;
}
