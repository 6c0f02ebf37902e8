import { LOST_MS } from "../../database/live-servers.ts";
import { all, run, text } from "../../database/steps.ts";
import { LISTED, listParameter } from "../../database/list-parameter.ts";
import { MOVE_ROWS_SQL } from "./postgresql-claimed-rows.ts";
import type { AbandonedRow, Claims } from "../sending/claims.ts";

/**
 * The deliveries that a lost server was sending: one that no longer reports that it lives. Rows that another server recovers at this moment
 * are skipped.
 */
const ABANDONED_SQL = `SELECT delivery.id, attempts, spent, interruptions,
    recipient.state AS recipient_state, recipient.kind
  FROM delivery JOIN recipient ON recipient.id = delivery.recipient_id
  WHERE delivery.state = 'sending' AND NOT EXISTS (SELECT FROM live_server
    WHERE live_server.id = delivery.claimed_by AND seen_at > (extract(epoch FROM clock_timestamp()) * 1000)::bigint - ${LOST_MS})
  ORDER BY delivery.id FOR NO KEY UPDATE OF delivery SKIP LOCKED`;
/** A message that goes with another one has no attempts of its own, so none is taken back. */
const UNKNOWN_SQL = `UPDATE delivery SET state = 'pending', claimed_at = NULL, claimed_by = NULL,
    attempts = attempts - CASE WHEN lead_id IS NULL THEN 1 ELSE 0 END
  WHERE state = 'sending' AND claimed_by = ? AND NOT id = ANY (ARRAY${LISTED})`;
/** Reads the index once for each recipient, however many rows wait. */
const QUEUED_SQL = `WITH RECURSIVE waiting AS (
    (SELECT recipient_id FROM outbox WHERE claimed_by IS NULL ORDER BY recipient_id LIMIT 1)
    UNION ALL SELECT (SELECT outbox.recipient_id FROM outbox WHERE outbox.recipient_id > waiting.recipient_id AND claimed_by IS NULL
      ORDER BY outbox.recipient_id LIMIT 1) FROM waiting WHERE waiting.recipient_id IS NOT NULL)
  SELECT recipient_id FROM waiting WHERE recipient_id IS NOT NULL`;

/**
 * The part of {@link Claims} for messages that this server must discover by itself: those of lost servers, of claims whose commit it did
 * not hear, and those that other servers queued.
 */
export function takeOver(self: string): Pick<Claims, "readAbandoned" | "giveBackUnknown" | "readQueued"> {
  return {
    *readAbandoned() {
      yield* run(text(MOVE_ROWS_SQL.ofLostServers));
      return yield* all(text<AbandonedRow>(ABANDONED_SQL));
    },
    *giveBackUnknown(ownIds) {
      yield* run(text(MOVE_ROWS_SQL.own, self));
      yield* run(text(UNKNOWN_SQL, self, listParameter(ownIds)));
    },
    *readQueued() {
      const rows = yield* all(text<{ readonly recipient_id: string }>(QUEUED_SQL));
      return rows.map((row) => row.recipient_id);
    },
  };
}
