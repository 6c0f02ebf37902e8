import { LOST_MS } from "../../database/live-servers.ts";
import { LIST } from "../../database/list-parameter.ts";
import { BODY_BYTES_SQL } from "../sending/claimed-delivery.ts";

/**
 * Claims of whole rows. A recipient that answers fast is given whole rows of the outbox: such a row names the server that sends its
 * messages, and a message becomes a row of `delivery` only when its attempt has ended. So a delivery is written once, and its end adds no
 * second version of the row. A message is either in a row of the outbox or in `delivery`. A server that needs a message of a claimed row
 * may move the whole row into `delivery`.
 */

const COLUMNS = "number, recipient_id, queued_at, claimed_by, messages";

/**
 * The unclaimed rows of the outbox that the query `rest` asks for, oldest first. Rows that another transaction has locked are skipped.
 *
 * @param which the condition that ends the selection. It sees `first` and `last`: the positions of a row's first and last message, counted
 * over all rows of its recipient.
 */
const freeRows = (which: string): string => `oldest AS MATERIALIZED (
      SELECT counted.number FROM rest CROSS JOIN LATERAL (
        SELECT number, last - message_count + 1 AS first, last FROM (
          SELECT number, message_count, sum(message_count) OVER (ORDER BY number) AS last FROM (
            SELECT number, message_count FROM outbox WHERE outbox.recipient_id = rest.recipient_id AND claimed_by IS NULL
            ORDER BY number LIMIT rest.most) AS waiting) AS summed
      ) AS counted WHERE ${which}),
    free AS MATERIALIZED (SELECT ${COLUMNS} FROM outbox
      WHERE number = ANY (ARRAY(SELECT number FROM oldest)) AND claimed_by IS NULL ORDER BY number FOR UPDATE SKIP LOCKED)`;

/** The messages of the rows that `fromRows` selects, one row for each message. */
const messages = (fromRows: string): string => `message AS MATERIALIZED (
      SELECT number, recipient_id, queued_at, claimed_by, ordinal, value, value ->> 0 AS id, value ->> 1 AS submission_id
      ${fromRows} CROSS JOIN LATERAL json_array_elements(messages::json) WITH ORDINALITY AS message (value, ordinal))`;
const MESSAGES = messages("FROM taken");

/**
 * The submissions of these messages that still exist; they are locked, so that none is deleted before the transaction ends.
 *
 * @param which a condition that selects the messages.
 */
const aliveOf = (which: string): string => `alive AS MATERIALIZED (SELECT submission.id FROM submission
      WHERE submission.id = ANY (ARRAY(SELECT submission_id FROM message WHERE ${which}))
      ORDER BY submission.id FOR KEY SHARE)`;

/** Deletes the rows and returns their messages. The last row may have more messages than are wanted. */
export const TAKE_FREE_ROWS = `${freeRows("first <= rest.most")},
    taken AS (DELETE FROM outbox WHERE number = ANY (ARRAY(SELECT number FROM free)) RETURNING ${COLUMNS}),
    ${MESSAGES}, ${aliveOf("TRUE")}`;

/**
 * Claims whole rows, up to `most` messages whose bodies have up to `bytes` bytes together. `fitting` has their messages. `queued_at` may
 * lie in the future if a server with a fast clock stored the row; it is set to now, so that a message that is given back is due at once.
 */
export const CLAIM_FREE_ROWS = `${freeRows("last <= rest.most")},
    ${messages("FROM free")},
    known AS MATERIALIZED (SELECT id, event_head, data, event_tail, ${BODY_BYTES_SQL} AS bytes FROM submission
      WHERE id = ANY (ARRAY(SELECT submission_id FROM message))),
    fitting AS MATERIALIZED (
      SELECT * FROM (
        SELECT number, message.id, recipient_id, queued_at, event_head, data, event_tail, rest.bytes AS room,
          sum(known.bytes) OVER (PARTITION BY recipient_id ORDER BY number) AS bytes_up_to_row
        FROM message JOIN known ON known.id = submission_id JOIN rest USING (recipient_id)) AS weighed
      WHERE bytes_up_to_row <= room),
    taken AS (UPDATE outbox SET claimed_by = :self, queued_at = least(queued_at, :now::bigint)
      WHERE number = ANY (ARRAY(SELECT DISTINCT number FROM fitting)))`;

/** Moves the messages of claimed rows into `delivery`, in the state `sending`. */
const moveRows = (rows: string): string => `WITH
    claimed AS MATERIALIZED (SELECT number FROM outbox WHERE ${rows}),
    taken AS (DELETE FROM outbox WHERE number = ANY (ARRAY(SELECT number FROM claimed)) RETURNING ${COLUMNS}),
    ${MESSAGES}, ${aliveOf("TRUE")}
  INSERT INTO delivery (id, submission_id, recipient_id, state, attempts, due_at, claimed_by)
    SELECT id, submission_id, recipient_id, 'sending', 1, queued_at, claimed_by FROM message
    WHERE submission_id IN (SELECT id FROM alive) ORDER BY number, ordinal`;

/** Records nothing if some of `ended` are not found, because what follows from an attempt depends on the attempts before it. */
export const RECORD_OF_ROWS = `
    taken AS MATERIALIZED (SELECT ${COLUMNS} FROM outbox
      WHERE number = ANY (ARRAY(SELECT DISTINCT outbox_number FROM ended)) AND claimed_by = :self ORDER BY number FOR UPDATE),
    ${MESSAGES},
    ${aliveOf("id IN (SELECT id FROM ended)")},
    own AS MATERIALIZED (SELECT ended.*, submission_id, recipient_id, queued_at
      FROM ended JOIN message ON message.id = ended.id JOIN alive ON alive.id = submission_id),
    whole AS MATERIALIZED (SELECT * FROM own WHERE (SELECT count(*) FROM own) = (SELECT count(*) FROM ended)),
    rest AS MATERIALIZED (SELECT number, count(*) AS message_count, json_agg(value ORDER BY ordinal)::text AS messages
      FROM message WHERE id NOT IN (SELECT id FROM whole) GROUP BY number),
    shortened AS (UPDATE outbox SET message_count = rest.message_count, messages = rest.messages
      FROM rest WHERE outbox.number = rest.number AND outbox.message_count <> rest.message_count),
    emptied AS (DELETE FROM outbox
      WHERE number = ANY (ARRAY(SELECT number FROM taken WHERE number NOT IN (SELECT number FROM rest)))),
    recorded AS (INSERT INTO delivery
        (id, submission_id, recipient_id, state, attempts, spent, interruptions, due_at, finished_at, last_status)
      SELECT id, submission_id, recipient_id, state, attempt, spent, interruptions, coalesce(due_at, queued_at), finished_at, status
      FROM whole RETURNING id)`;

const OF_LOST_SERVERS = `claimed_by IS NOT NULL AND NOT EXISTS (SELECT FROM live_server WHERE live_server.id = outbox.claimed_by
    AND seen_at > (extract(epoch FROM clock_timestamp()) * 1000)::bigint - ${LOST_MS})`;

export const MOVE_ROWS_SQL = {
  some: moveRows(
    `number = ANY (ARRAY(SELECT key::bigint FROM ${LIST})) AND claimed_by = ? ORDER BY number FOR UPDATE`,
  ),
  own: moveRows("claimed_by = ? ORDER BY number FOR UPDATE"),
  ofLostServers: moveRows(`${OF_LOST_SERVERS} ORDER BY number FOR UPDATE SKIP LOCKED`),
} as const;
