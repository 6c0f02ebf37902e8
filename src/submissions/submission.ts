import type { SpamClass, SpamReason } from "../spam/spam-verdict.ts";

/** One accepted form post. */
export interface Submission {
  readonly id: string;
  readonly endpointId: string;
  /** The version of the endpoint's schema that it was checked with. */
  readonly schemaVersion: number;
  readonly data: Readonly<Record<string, unknown>>;
  /** 0 to 100. */
  readonly spamScore: number;
  readonly spamClass: SpamClass;
  /** They add up to the score. */
  readonly spamReasons: readonly SpamReason[];
  /** The version of the filter that gave the score. */
  readonly spamVersion: number;
  readonly ipAddress: string;
  /** Empty where the client sent none. */
  readonly userAgent: string;
  readonly createdAt: number;
}

/** Longest user agent that is kept, in UTF-16 units; browsers send about 120. */
export const MAX_USER_AGENT_LENGTH = 512;
