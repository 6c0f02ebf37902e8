import { toIsoTime } from "../foundation/clock.ts";

/** The parts of a submission in its notification, besides the data. */
export interface NotifiedSubmission {
  readonly id: string;
  readonly endpointId: string;
  readonly spamScore: number;
  readonly ipAddress: string;
  readonly userAgent: string;
  readonly createdAt: number;
}

/**
 * The text before and after a submission's data in the body of its `submission.created`, as its row keeps them; null if no
 * recipient wants it.
 */
export interface EventParts {
  readonly head: string | null;
  readonly tail: string | null;
}

export const NO_EVENT: EventParts = { head: null, tail: null };

/** Each part is JSON of its own, for speed. The data between is the JSON that the submission's row holds. */
export function renderAround(
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
