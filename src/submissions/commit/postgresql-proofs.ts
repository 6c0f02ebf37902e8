import type { BatchStatement, BatchTransaction } from "../../database/postgresql/batch-connection.ts";
import { type Batch, idOf } from "./batch.ts";

interface ProofJson {
  /** The id of the proof, in hexadecimal. */
  readonly id: string;
  readonly used_by: string;
  readonly expires_at: number;
}

/**
 * The parameter is a JSON array of {@link ProofJson} with different ids. It also returns a proof that the same post spent in an earlier
 * attempt.
 */
const SPEND_PROOFS: BatchStatement = {
  name: "spend_proofs",
  text: `INSERT INTO spent_proof (id, used_by, expires_at)
    SELECT decode(id, 'hex'), used_by, expires_at
    FROM json_to_recordset($1::json) AS post(id text, used_by text, expires_at bigint) ORDER BY 1
    ON CONFLICT (id) DO UPDATE SET used_by = excluded.used_by WHERE spent_proof.used_by = excluded.used_by
    RETURNING used_by`,
};

/** The parameter is a JSON array of {@link ProofJson}. */
const RETURN_PROOFS: BatchStatement = {
  name: "return_proofs",
  text: `DELETE FROM spent_proof USING json_to_recordset($1::json) AS post(id text, used_by text)
    WHERE spent_proof.id = decode(post.id, 'hex') AND spent_proof.used_by = post.used_by`,
};

const NONE: ReadonlySet<string> = new Set();

/** Spends the proofs of a batch. Returns the ids of the posts whose proof another post had spent. */
export async function spendProofs(transaction: BatchTransaction, batch: Batch): Promise<ReadonlySet<string>> {
  const brought = batch.filter(({ proof }) => proof !== null);
  if (brought.length === 0) return NONE;
  const first = new Map<string, ProofJson>();
  for (const row of brought.flatMap(rowsOf)) if (!first.has(row.id)) first.set(row.id, row);
  const rows = JSON.stringify([...first.values()]);
  const won = new Set((await transaction.query<ProofJson>(SPEND_PROOFS, rows)).map(({ used_by: id }) => id));
  return new Set(brought.map(idOf).filter((id) => !won.has(id)));
}

/** Gives the proofs of refused posts back, so that each can be tried again. */
export function returnProofs(transaction: BatchTransaction, refused: Batch): Promise<unknown>[] {
  const rows = refused.flatMap(rowsOf);
  return rows.length === 0 ? [] : [transaction.query(RETURN_PROOFS, JSON.stringify(rows))];
}

/** Returns an empty list for a post without a proof. */
function rowsOf(pending: Batch[number]): ProofJson[] {
  const { proof } = pending;
  if (proof === null) return [];
  return [{ id: proof.id.toString("hex"), used_by: idOf(pending), expires_at: proof.expiresAt }];
}
