import type { Tables } from "../../database/tables.generated.ts";
import { FormsvcError } from "../../foundation/errors.ts";
import type { SetAside } from "../../schemas/set-aside.ts";
import { type SpamClass, spamClassOf, type SpamReason } from "../../spam/spam-verdict.ts";

/** One accepted form post. */
export interface Submission {
  readonly id: string;
  readonly endpointId: string;
  /** The version of the endpoint's schema that the post was checked with. */
  readonly schemaVersion: number;
  readonly data: Readonly<Record<string, unknown>>;
  /** Unknown fields that were set aside; null if there are none, or if the endpoint does not set them aside. */
  readonly setAside: SetAside | null;
  /** The spam score, 0 to 100. */
  readonly spamScore: number;
  readonly spamClass: SpamClass;
  /** The reasons for the score; their points add up to it. */
  readonly spamReasons: readonly SpamReason[];
  /** The version of the filter that gave the score. */
  readonly spamVersion: number;
  readonly ipAddress: string;
  /** Empty if the client sent none. */
  readonly userAgent: string;
  readonly createdAt: number;
  /** The service whose export it came from; absent or null if it was posted here. */
  readonly importedFrom?: string | null;
}

/** The longest user agent that is kept, in UTF-16 units; browsers send about 120. */
export const MAX_USER_AGENT_LENGTH = 512;

/** The columns that stored submissions and held posts share. */
export const CONTENT_COLUMNS = [
  "id",
  "schema_version",
  "data",
  "spam_score",
  "spam_reasons",
  "spam_version",
  "ip_address",
  "user_agent",
  "created_at",
  "unknown_fields",
  "unknown_fields_dropped",
] as const;

export type ContentRow = Pick<Tables["held"], (typeof CONTENT_COLUMNS)[number]>;
type ValuesOf<Columns extends readonly (keyof Tables["held"])[]> = {
  -readonly [Index in keyof Columns]: Tables["held"][Columns[Index]];
};

/** One value for each of {@link CONTENT_COLUMNS}, in their order. */
export function contentValues(submission: Submission): ValuesOf<typeof CONTENT_COLUMNS> {
  const { setAside } = submission;
  return [
    submission.id,
    submission.schemaVersion,
    JSON.stringify(submission.data),
    submission.spamScore,
    JSON.stringify(submission.spamReasons),
    submission.spamVersion,
    submission.ipAddress,
    submission.userAgent,
    submission.createdAt,
    setAside === null ? null : JSON.stringify(setAside.fields),
    setAside === null ? null : setAside.dropped,
  ];
}

export function readContent(row: ContentRow): Omit<Submission, "endpointId"> {
  return {
    id: row.id,
    schemaVersion: row.schema_version,
    data: parseStored(row.id, "data", row.data) as Record<string, unknown>,
    setAside: readSetAside(row),
    spamScore: row.spam_score,
    spamClass: spamClassOf(row.spam_score),
    spamReasons: parseStored(row.id, "spam reasons", row.spam_reasons) as SpamReason[],
    spamVersion: row.spam_version,
    ipAddress: row.ip_address,
    userAgent: row.user_agent,
    createdAt: row.created_at,
  };
}

function readSetAside({
  id,
  unknown_fields: fields,
  unknown_fields_dropped: dropped,
}: ContentRow): SetAside | null {
  if (fields === null) return null;
  const values = parseStored(id, "set-aside fields", fields) as Record<string, unknown>;
  return { fields: values, dropped: dropped ?? 0 };
}

/** @throws database_unusable if the text is not as it was stored: SQLite does not notice when a disk changes a bit of a text */
function parseStored(id: string, what: string, json: string): unknown {
  try {
    return JSON.parse(json);
  } catch (error) {
    const advice = "restore a backup, or delete it for good";
    throw new FormsvcError(
      "database_unusable",
      `the ${what} of the submission ${id} are damaged in the database: ${advice}`,
      { cause: error },
    );
  }
}
