import type { Database } from "../database/database.ts";
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

export interface Outbox {
  /**
   * Queues a stored submission for every webhook of its endpoint that wants it. Call it in the transaction that stores
   * the submission.
   */
  enqueue(submission: NotifiedSubmission, now: number): void;
  /** Call after that transaction, however it ended: wakes whoever sends, where something was queued. */
  announce(): void;
  /** Who sends. */
  onQueued(listener: () => void): void;
  /** Webhooks that got something since the last call; after a rollback it may name some that did not. */
  takeTouched(): Set<string>;
  /** How many deliveries were queued since the process began. */
  queuedSoFar(): number;
  /** This process changed webhooks; what other processes change is noticed. */
  forget(): void;
}

interface Target {
  readonly id: string;
  readonly state: string;
  readonly max_spam_score: number;
  readonly endpoint_name: string;
}

/** Endpoints whose webhooks are held in memory; all are read anew beyond this. */
const MAX_KNOWN_ENDPOINTS = 5000;

export const ENQUEUE_SQL = {
  targets: `SELECT webhook.id, webhook.state, webhook.max_spam_score, endpoint.name AS endpoint_name
    FROM webhook JOIN endpoint ON endpoint.id = webhook.endpoint_id WHERE webhook.endpoint_id = ?`,
  event: "INSERT INTO event (submission_id, head, tail) VALUES (?, ?, ?)",
  delivery: "INSERT INTO delivery (id, submission_id, webhook_id, state, due_at) VALUES (?, ?, ?, ?, ?)",
} as const;

export function createOutbox(db: Database): Outbox {
  const selectTargets = db.prepare(ENQUEUE_SQL.targets);
  const insertEvent = db.prepare(ENQUEUE_SQL.event);
  const insertDelivery = db.prepare(ENQUEUE_SQL.delivery);
  const dataVersion = db.prepare("PRAGMA data_version").pluck();
  const targetsByEndpoint = new Map<string, readonly Target[]>();
  let seenVersion: unknown = null;
  let isBatchKnown = false;
  let touched = new Set<string>();
  let queued = 0;
  let wake = (): void => undefined;

  const readTargets = (endpointId: string): readonly Target[] => {
    // Inside the transaction nobody else can change a webhook, so one look a batch is exact.
    if (!isBatchKnown && dataVersion.get() !== seenVersion) {
      seenVersion = dataVersion.get();
      targetsByEndpoint.clear();
    }
    isBatchKnown = true;
    const known = targetsByEndpoint.get(endpointId);
    if (known !== undefined) return known;
    if (targetsByEndpoint.size >= MAX_KNOWN_ENDPOINTS) targetsByEndpoint.clear();
    const read = selectTargets.all(endpointId) as Target[];
    targetsByEndpoint.set(endpointId, read);
    return read;
  };

  return {
    enqueue(submission, now) {
      const { endpointId, spamScore } = submission;
      const targets = readTargets(endpointId).filter((target) => target.max_spam_score >= spamScore);
      const [first] = targets;
      if (first === undefined) return;
      const { head, tail } = renderAround(submission, first.endpoint_name, now);
      insertEvent.run(submission.id, head, tail);
      for (const { id, state } of targets) {
        insertDelivery.run(
          newId("msg", now),
          submission.id,
          id,
          state === "enabled" ? "pending" : "held",
          now,
        );
        touched.add(id);
        queued += 1;
      }
    },
    announce() {
      isBatchKnown = false;
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
    forget: () => targetsByEndpoint.clear(),
  };
}

/** What comes before and after a submission's data in the body of its `submission.created`. */
interface Around {
  readonly head: string;
  readonly tail: string;
}

/** Each part is JSON of its own, for speed. The data between is the JSON that the submission's row holds. */
function renderAround(submission: NotifiedSubmission, endpointName: string, now: number): Around {
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
