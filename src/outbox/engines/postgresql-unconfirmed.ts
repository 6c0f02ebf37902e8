import type { Confirmations } from "../../database/confirmations.ts";
import { all, run, type Steps, text } from "../../database/steps.ts";
import { LISTED_IDS, listParameter } from "../../database/list-parameter.ts";
import type { Claim } from "../sending/claimed-delivery.ts";
import type { Claims, UnconfirmedClaims } from "../sending/claims.ts";

/** The claimed messages about submissions that may not be on the standby yet. A summary is one of them if any of its messages is. */
const UNCONFIRMED_SQL = `WITH claimed AS MATERIALIZED (
    SELECT * FROM json_to_recordset(?) AS claimed (id text COLLATE "C", outbox_number bigint)),
  affected AS MATERIALIZED (
    SELECT coalesce(lead_id, id) AS id, submission_id FROM delivery
      WHERE id = ANY (ARRAY(SELECT id FROM claimed)) OR lead_id = ANY (ARRAY(SELECT id FROM claimed))
    UNION ALL SELECT value ->> 0, value ->> 1
      FROM outbox CROSS JOIN LATERAL json_array_elements(messages::json) AS message (value)
      WHERE number = ANY (ARRAY(SELECT outbox_number FROM claimed)))
  SELECT DISTINCT affected.id FROM affected JOIN submission ON submission.id = affected.submission_id
  WHERE NOT pg_visible_in_snapshot(stored_by, CAST(? AS text)::pg_snapshot)`;
const POSTPONE_SQL = `UPDATE delivery SET due_at = ?
  WHERE id IN ${LISTED_IDS} AND state = 'pending'`;

/** @param giveBack gives claims back as {@link Claims} says. */
export function unconfirmedClaims(
  confirmations: Confirmations,
  giveBack: Claims["giveBack"],
): UnconfirmedClaims {
  return {
    confirm: () => confirmations.confirm(),
    *postpone(claims, safe, until) {
      const found = yield* readUnconfirmed(claims, safe);
      if (found.size === 0) return found;
      const ids = listParameter([...found]);
      yield* giveBack(claims.filter(({ id }) => found.has(id)));
      yield* run(text(POSTPONE_SQL, until, ids));
      return found;
    },
  };
}

function* readUnconfirmed(claims: readonly Claim[], safe: string): Steps<ReadonlySet<string>> {
  const own = new Set(claims.map(({ id }) => id));
  const claimed = claims.map(({ id, outboxNumber }) => ({ id, outbox_number: outboxNumber ?? undefined }));
  const rows = yield* all(text<{ readonly id: string }>(UNCONFIRMED_SQL, JSON.stringify(claimed), safe));
  // A whole row of the outbox was claimed, and some of its messages may be on their way already: only those asked for are returned.
  return new Set(rows.map(({ id }) => id).filter((id) => own.has(id)));
}
