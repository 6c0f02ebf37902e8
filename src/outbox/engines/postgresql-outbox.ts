import type { BatchStatement } from "../../database/postgresql/batch-connection.ts";
import type { KnownRecipient } from "../queue/choose-recipients.ts";

export interface LockedRecipient extends KnownRecipient {
  readonly endpoint_id: string;
}

/** Reads the recipients of these endpoints that agreed to get messages, and locks them: none can be deleted until the transaction ends. */
export const LOCK_RECIPIENTS: BatchStatement = {
  name: "lock_recipients",
  text: `SELECT recipient.endpoint_id, recipient.id, recipient.kind, recipient.max_spam_score,
      recipient.conditions, endpoint.name AS endpoint_name
    FROM recipient JOIN endpoint ON endpoint.id = recipient.endpoint_id
    WHERE recipient.endpoint_id = ANY($1::text[]) AND recipient.confirmed_at IS NOT NULL
    ORDER BY recipient.id FOR KEY SHARE OF recipient`,
};

/** Adds rows of the outbox. The parameter is a JSON array of them. */
export const INSERT_ROWS: BatchStatement = {
  name: "insert_outbox",
  text: `INSERT INTO outbox (recipient_id, queued_at, message_count, messages)
    SELECT recipient_id, queued_at, message_count, messages FROM json_to_recordset($1::json)
      AS queued(recipient_id text, queued_at bigint, message_count integer, messages text)`,
};

/** The key of the advisory lock: an arbitrary number that nothing else uses. */
const QUOTA_LOCK = 7235461912;

/**
 * Locks all quotas until the transaction ends: no other server counts a message against a limit meanwhile. All quotas have one lock,
 * because some limits hold for all workspaces together.
 */
export const LOCK_QUOTAS: BatchStatement = {
  name: "lock_quotas",
  text: `SELECT pg_advisory_xact_lock(${QUOTA_LOCK})`,
};
