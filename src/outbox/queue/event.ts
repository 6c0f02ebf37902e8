import { toIsoTime } from "../../foundation/clock.ts";

/** The parts of a submission in its notification, besides the data. */
export interface NotifiedSubmission {
  readonly id: string;
  readonly endpointId: string;
  readonly spamScore: number;
  readonly ipAddress: string;
  readonly userAgent: string;
  readonly createdAt: number;
  /**
   * Values that the schema does not have a field for, and the number of such values that were dropped; null or absent if there are none.
   */
  readonly setAside?: {
    readonly fields: Readonly<Record<string, unknown>>;
    readonly dropped: number;
  } | null;
  /** The data as JSON with addresses of the files; null or absent if the data of the submission's row are sent. */
  readonly linkedData?: string | null;
}

/**
 * The text before and after the data in the body of `submission.created`, as the submission's row keeps them; null if no recipient wants
 * the submission. If the message has other data than the row, `head` is the whole body and `tail` is null.
 */
export interface EventParts {
  readonly head: string | null;
  readonly tail: string | null;
  /** The recipients that a condition left out, as `readNotSent` reads them; null if there are none. */
  readonly notSent: string | null;
  /** The recipients whose messages wait, as JSON in the form of `scan_wait.recipients`; absent if none waits. */
  readonly waiting?: string;
}

/** Renders head and tail. Each part is serialised separately, for speed: the data between them are the JSON of the submission's row. */
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

/** The JSON members right after the data. */
function renderSetAside({ fields, dropped }: NonNullable<NotifiedSubmission["setAside"]>): string {
  const listed = Object.keys(fields).length === 0 ? "" : `,"unknown_fields":${JSON.stringify(fields)}`;
  return dropped === 0 ? listed : `${listed},"unknown_fields_dropped":${dropped}`;
}

/** The body of `submission.created`. It is well-formed Unicode, because signatures need that. @param data the data as JSON. */
export function renderBody(
  submission: NotifiedSubmission,
  data: string,
  endpointName: string,
  now: number,
): string {
  const { head, tail } = renderAround(submission, endpointName, now);
  return tail === null ? head : head + data + tail;
}
