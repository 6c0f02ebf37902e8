import { toIsoTime } from "../../foundation/clock.ts";

/** The parts of a submission in its notification, besides the data. */
export interface NotifiedSubmission {
  readonly id: string;
  readonly endpointId: string;
  readonly spamScore: number;
  readonly ipAddress: string;
  readonly userAgent: string;
  readonly createdAt: number;
  /** What was sent beyond the schema, and how many such values had no room; null or absent for nothing. */
  readonly setAside?: {
    readonly fields: Readonly<Record<string, unknown>>;
    readonly dropped: number;
  } | null;
  /** Its data as JSON with addresses of its files; null or absent if the data of its row are sent. */
  readonly linkedData?: string | null;
}

/**
 * The text before and after a submission's data in the body of its `submission.created`, as its row keeps them; null if no
 * recipient wants it. If the message has other data than the row, the head is the whole body and there is no tail.
 */
export interface EventParts {
  readonly head: string | null;
  readonly tail: string | null;
  /** Who was left out by a condition, as `readNotSent` reads it; null if nobody was. */
  readonly notSent: string | null;
  /** The recipients whose messages wait, as `scan_wait.recipients` has them; absent if none waits. */
  readonly waiting?: string;
}

/** Each part is JSON of its own, for speed. The data between is the JSON that the submission's row holds. */
export function renderAround(
  submission: NotifiedSubmission,
  endpointName: string,
  now: number,
): { readonly head: string; readonly tail: string | null } {
  const { id, endpointId, spamScore, ipAddress, userAgent, createdAt } = submission;
  const timestamp = toIsoTime(now);
  const created = createdAt === now ? timestamp : toIsoTime(createdAt);
  const endpoint = `{"id":"${endpointId}","name":${JSON.stringify(endpointName)}}`;
  const client = `"ip_address":${JSON.stringify(ipAddress)},"user_agent":${JSON.stringify(userAgent)}`;
  const beside = submission.setAside ? renderSetAside(submission.setAside) : "";
  const around = {
    head: `{"event":"submission.created","timestamp":"${timestamp}","endpoint":${endpoint},"submission":{"id":"${id}","data":`,
    tail: `${beside},"spam_score":${spamScore},${client},"created_at":"${created}"}}`,
  };
  const { linkedData = null } = submission;
  return linkedData === null ? around : { head: around.head + linkedData + around.tail, tail: null };
}

/** The members that stand right after the data. */
function renderSetAside({ fields, dropped }: NonNullable<NotifiedSubmission["setAside"]>): string {
  const listed = Object.keys(fields).length === 0 ? "" : `,"unknown_fields":${JSON.stringify(fields)}`;
  return dropped === 0 ? listed : `${listed},"unknown_fields_dropped":${dropped}`;
}

/** The body of `submission.created`, well-formed as signatures need it. @param data JSON */
export function renderBody(
  submission: NotifiedSubmission,
  data: string,
  endpointName: string,
  now: number,
): string {
  const { head, tail } = renderAround(submission, endpointName, now);
  return tail === null ? head : head + data + tail;
}
