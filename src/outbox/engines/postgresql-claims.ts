import type { Confirmations } from "../../database/confirmations.ts";
import type { LiveServers } from "../../database/live-servers.ts";
import { all, first, prepared, run, type Steps, text } from "../../database/steps.ts";
import { LISTED_IDS, listParameter } from "../../database/list-parameter.ts";
import {
  ALONE,
  BODY_BYTES_SQL,
  BODY_SQL,
  type ClaimedDelivery,
  type ClaimMarks,
  IS_LEFT_BY_LEAD,
} from "../sending/claimed-delivery.ts";
import type { AheadWant, Claims, Want } from "../sending/claims.ts";
import { CLAIM_FREE_ROWS, MOVE_ROWS_SQL, TAKE_FREE_ROWS } from "./postgresql-claimed-rows.ts";
import { createFinish } from "./postgresql-finish.ts";
import { takeOver } from "./postgresql-take-over.ts";
import { unconfirmedClaims } from "./postgresql-unconfirmed.ts";

interface ClaimedRow {
  readonly id: string;
  readonly recipient_id: string;
  readonly attempts: number;
  readonly spent: number;
  readonly interruptions: number;
  readonly due_at: number;
  readonly body: string;
  readonly outbox_number?: number | null;
}

interface QueuedRow extends ClaimedRow {
  readonly state: "sending" | "pending";
}

/** The body is a subquery, so that the submission is looked up by its key whatever the planner expects of the tables. */
const BODY = `coalesce(delivery.event, (SELECT ${BODY_SQL} FROM submission WHERE submission.id = delivery.submission_id))`;
const RETURNED = "delivery.id, delivery.recipient_id, attempts, spent, interruptions, due_at";
const FROM_WANTS = `FROM json_to_recordset(:wants) AS want (recipient_id text COLLATE "C", most integer)`;

/** For each row of `want`: the due deliveries that no other transaction has locked. */
const pickDue = (columns: string): string => `CROSS JOIN LATERAL (
      SELECT ${columns} FROM delivery AS waiting
      WHERE waiting.recipient_id = want.recipient_id AND state = 'pending' AND lead_id IS NULL AND due_at <= :latest
      ORDER BY lead_id, due_at LIMIT want.most FOR NO KEY UPDATE SKIP LOCKED) AS picked`;
/** The ids are an array, so that they are looked up by the key. For the rows of a join the planner would have to guess. */
const takeDue = (selectIds: string): string => `UPDATE delivery
    SET state = 'sending', attempts = attempts + 1, claimed_at = :now, is_probe = :probe, claimed_by = :self
    WHERE delivery.id = ANY (ARRAY(${selectIds}))
    RETURNING ${RETURNED}, state, ${BODY} AS body`;

/**
 * Takes whole rows of the outbox, as `rest` asks. All of their messages become deliveries; those beyond the wanted number become pending
 * ones. Messages of deleted submissions are dropped.
 */
const TAKE_ROWS = `${TAKE_FREE_ROWS},
    ranked AS (
      SELECT message.*, row_number() OVER (PARTITION BY recipient_id ORDER BY number, ordinal) AS rank
      FROM message WHERE submission_id IN (SELECT id FROM alive))`;
/** `queued_at` may lie in the future if a server with a fast clock stored the row; such a message is due at once. */
const MAKE_DELIVERIES = `INSERT INTO delivery
      (id, submission_id, recipient_id, state, attempts, due_at, claimed_at, is_probe, claimed_by)
      SELECT ranked.id, submission_id, ranked.recipient_id, chosen.state,
        CASE chosen.state WHEN 'sending' THEN 1 ELSE 0 END, least(queued_at, :now::bigint),
        CASE chosen.state WHEN 'sending' THEN :now::bigint END, CASE chosen.state WHEN 'sending' THEN :probe::smallint ELSE 0 END,
        CASE chosen.state WHEN 'sending' THEN :self END
      FROM ranked JOIN rest ON rest.recipient_id = ranked.recipient_id
        CROSS JOIN LATERAL (SELECT CASE WHEN rank <= rest.most THEN 'sending' ELSE 'pending' END AS state) AS chosen
      ORDER BY number, ordinal
    RETURNING ${RETURNED}, state, CASE state WHEN 'sending' THEN ${BODY} END AS body`;

/** Claims what is due for `want`. `rest` has the number of messages that each recipient may still get. */
const DUE_AND_REST = `want AS MATERIALIZED (SELECT * ${FROM_WANTS}),
    due AS (${takeDue(`SELECT picked.id FROM want ${pickDue("id")}`)}),
    rest AS MATERIALIZED (
      SELECT recipient_id, most - (SELECT count(*) FROM due WHERE due.recipient_id = want.recipient_id) AS most FROM want)`;

/**
 * Like {@link DUE_AND_REST}, but only for deliveries whose bodies fit into `bytes`. After one that does not fit, `rest` is negative, so
 * that no later message overtakes it.
 */
const FITTING_DUE_AND_REST = `want AS MATERIALIZED (SELECT * FROM json_to_recordset(:wants)
      AS want (recipient_id text COLLATE "C", most integer, bytes bigint)),
    picked AS MATERIALIZED (
      SELECT picked.*, sum(picked.bytes) OVER (PARTITION BY picked.recipient_id ORDER BY due_at, id) <= want.bytes AS fits
      FROM want ${pickDue(`id, recipient_id, due_at,
        coalesce(octet_length(waiting.event), (SELECT ${BODY_BYTES_SQL} FROM submission WHERE submission.id = waiting.submission_id)) AS bytes`)}),
    due AS (${takeDue("SELECT id FROM picked WHERE fits")}),
    rest AS MATERIALIZED (
      SELECT recipient_id, most - count(picked.id) AS most, want.bytes - coalesce(sum(picked.bytes), 0) AS bytes
      FROM want LEFT JOIN picked USING (recipient_id) GROUP BY recipient_id, most, want.bytes)`;

const CLAIM_SQL = {
  earliest: `SELECT want.recipient_id, CASE
      WHEN EXISTS (SELECT FROM outbox WHERE outbox.recipient_id = want.recipient_id AND claimed_by IS NULL) THEN 0
      ELSE (SELECT due_at FROM delivery WHERE delivery.recipient_id = want.recipient_id AND state = 'pending' AND lead_id IS NULL
        ORDER BY lead_id, due_at LIMIT 1) END AS due_at
    FROM json_array_elements_text(:ids) AS want (recipient_id)`,
  due: takeDue(`SELECT picked.id ${FROM_WANTS} ${pickDue("id")}`),
  queued: `WITH rest AS MATERIALIZED (SELECT * ${FROM_WANTS}), ${TAKE_ROWS} ${MAKE_DELIVERIES}`,
  // One statement for both, because each statement is a round trip to the server.
  dueAndQueued: `WITH ${DUE_AND_REST}, ${TAKE_ROWS},
    made AS (${MAKE_DELIVERIES})
    SELECT * FROM due UNION ALL SELECT * FROM made WHERE state = 'sending'`,
  ahead: `WITH ${FITTING_DUE_AND_REST}, ${CLAIM_FREE_ROWS}
    SELECT id, recipient_id, attempts, spent, interruptions, due_at, body, NULL::bigint AS outbox_number FROM due
    UNION ALL SELECT id, recipient_id, 1, 0, 0, least(queued_at, :now::bigint), ${BODY_SQL}, number FROM fitting AS submission`,
  waitsSince: `SELECT (SELECT queued_at FROM outbox WHERE recipient_id = ? AND claimed_by IS NULL ORDER BY number LIMIT 1) AS queued,
    (SELECT due_at FROM delivery WHERE recipient_id = ? AND state = 'pending' AND lead_id IS NULL
      ORDER BY lead_id, due_at LIMIT 1) AS due`,
  mark: `UPDATE delivery SET state = 'sending', attempts = attempts + 1, claimed_at = ?, is_probe = 0, claimed_by = ?
    WHERE id = ? AND state = 'pending'`,
  markMembers: `UPDATE delivery SET state = 'sending', claimed_by = ?
    WHERE state IN ('pending', 'held') AND id IN ${LISTED_IDS}`,
  giveBack: `UPDATE delivery SET state = 'pending', attempts = attempts - 1, claimed_at = NULL, claimed_by = NULL
    FROM json_to_recordset(?) AS back (id text COLLATE "C", attempt integer)
    WHERE delivery.id = back.id AND state = 'sending' AND attempts = back.attempt AND claimed_by = ?`,
  giveMembersBack: `UPDATE delivery SET state = 'pending', claimed_by = NULL
    WHERE id IN ${LISTED_IDS} AND state = 'sending' AND claimed_by = ? AND ${IS_LEFT_BY_LEAD}`,
} as const;

/** A time after every `due_at`. */
const ANY_TIME = Number.MAX_SAFE_INTEGER;

/**
 * The claims on PostgreSQL. One statement claims for all recipients, because each statement is a round trip to the server. Rows that
 * another server is claiming are skipped.
 *
 * @param servers the servers that share the database; a claimed row names the one that sends it.
 */
export function createClaims(servers: LiveServers, confirmations: Confirmations): Claims {
  const { self } = servers;
  const giveBack = createGiveBack(self);
  const claimFromOutbox = createOutboxClaim(self);
  const claimOf = (wants: readonly Want[], now: number) =>
    ({ wants: toJson(wants), latest: now, now, probe: 0, self }) as const;
  return {
    servers,
    isShared: true,
    unconfirmed: unconfirmedClaims(confirmations, giveBack),
    *earliestDue(recipientIds) {
      const rows = yield* all(
        prepared<{ readonly recipient_id: string; readonly due_at: number | null }>(
          "earliest due",
          CLAIM_SQL.earliest,
          { ids: JSON.stringify(recipientIds) },
        ),
      );
      return new Map(rows.map((row) => [row.recipient_id, row.due_at]));
    },
    *claimDue(wants, now) {
      const claim = claimOf(wants, now);
      const rows = yield* all(prepared<ClaimedRow>("claim due and queued", CLAIM_SQL.dueAndQueued, claim));
      return forEach(wants, byRecipient(rows, { isProbe: false, claimedAt: now }));
    },
    *claimAhead(wants, now) {
      const rows = yield* all(prepared<ClaimedRow>("claim ahead", CLAIM_SQL.ahead, claimOf(wants, now)));
      return forEach(wants, byRecipient(rows, { isProbe: false, claimedAt: now }));
    },
    *claimProbe(recipientId, now) {
      const wants = [{ recipientId, limit: 1 }];
      const { queued = null, due = null } =
        (yield* first(text<WaitsSince>(CLAIM_SQL.waitsSince, recipientId, recipientId))) ?? {};
      const isQueuedFirst = queued !== null && (due === null || queued < due);
      const marks: ClaimMarks = { isProbe: true, claimedAt: now };
      const claim = { ...claimOf(wants, now), latest: ANY_TIME, probe: 1 };
      const rows = isQueuedFirst
        ? yield* claimFromOutbox(wants, marks)
        : yield* all(prepared<ClaimedRow>("claim due", CLAIM_SQL.due, claim));
      return byRecipient(rows, marks).get(recipientId) ?? [];
    },
    *claimFromOutbox(want, now) {
      const marks: ClaimMarks = { isProbe: false, claimedAt: now };
      return byRecipient(yield* claimFromOutbox([want], marks), marks).get(want.recipientId) ?? [];
    },
    *claimOne(id, now) {
      return (yield* run(text(CLAIM_SQL.mark, now, self, id))) === 1;
    },
    *claimMembers(ids) {
      yield* run(text(CLAIM_SQL.markMembers, self, listParameter(ids)));
    },
    giveBack,
    finish: createFinish(self),
    ...takeOver(self),
  };
}

function createOutboxClaim(self: string) {
  return function* (wants: readonly Want[], { isProbe, claimedAt: now }: ClaimMarks): Steps<ClaimedRow[]> {
    const claim = { wants: toJson(wants), now, probe: isProbe ? 1 : 0, self };
    const made = prepared<QueuedRow>("claim queued", CLAIM_SQL.queued, claim);
    return (yield* all(made)).filter(({ state }) => state === "sending");
  };
}

function createGiveBack(self: string): Claims["giveBack"] {
  return function* (deliveries) {
    if (deliveries.length === 0) return;
    const numbers = new Set(deliveries.flatMap(({ outboxNumber }) => outboxNumber ?? []));
    if (numbers.size > 0) yield* run(text(MOVE_ROWS_SQL.some, listParameter([...numbers]), self));
    const back = deliveries.map(({ id, attempt }) => ({ id, attempt }));
    yield* run(text(CLAIM_SQL.giveBack, JSON.stringify(back), self));
    const memberIds = deliveries.flatMap((delivery) => delivery.memberIds);
    if (memberIds.length > 0) yield* run(text(CLAIM_SQL.giveMembersBack, listParameter(memberIds), self));
  };
}

interface WaitsSince {
  readonly queued: number | null;
  readonly due: number | null;
}

function toJson(wants: readonly (Want & Partial<AheadWant>)[]): string {
  return JSON.stringify(
    wants.map(({ recipientId, limit, bytes }) => ({ recipient_id: recipientId, most: limit, bytes })),
  );
}

/** Adds an empty list for each recipient that nothing was due for. */
function forEach(wants: readonly Want[], claimed: Map<string, ClaimedDelivery[]>) {
  for (const { recipientId } of wants) if (!claimed.has(recipientId)) claimed.set(recipientId, []);
  return claimed;
}

/** The claimed deliveries of each recipient, in the order in which they are due. */
function byRecipient(rows: readonly ClaimedRow[], marks: ClaimMarks): Map<string, ClaimedDelivery[]> {
  const claimed = new Map<string, ClaimedDelivery[]>();
  for (const row of rows.toSorted(byAge)) {
    const { id, recipient_id: recipientId, attempts: attempt, spent, interruptions, body } = row;
    const before = { attempt, spent, interruptions };
    const outboxNumber = row.outbox_number ?? null;
    const delivery = { id, recipientId, ...before, ...marks, body, ...ALONE, outboxNumber };
    const known = claimed.get(recipientId);
    if (known === undefined) claimed.set(recipientId, [delivery]);
    else known.push(delivery);
  }
  return claimed;
}

function byAge(one: ClaimedRow, other: ClaimedRow): number {
  return one.due_at - other.due_at || (one.id < other.id ? -1 : 1);
}
