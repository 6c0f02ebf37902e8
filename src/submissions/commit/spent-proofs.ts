import { query } from "../../database/database.ts";
import { deleteSome } from "../../database/some-rows.ts";
import { first, run, type Steps, textByEngine } from "../../database/steps.ts";

/** A proof of work that a post brings; it is spent when the post is stored. */
export interface SpentProof {
  readonly id: Buffer;
  readonly expiresAt: number;
}

/** Runs inside the transaction that stores or holds the post. Changes no row if the proof was spent before. */
export const SPEND_SQL =
  "INSERT INTO spent_proof (id, used_by, expires_at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING";

export function* isSpent({ id }: SpentProof): Steps<boolean> {
  return (yield* first(query.selectFrom("spent_proof").select("used_by").where("id", "=", id))) !== undefined;
}

const FORGET_BATCH = 500;
const FORGET_SQL = deleteSome(
  "spent_proof",
  ["id"],
  (id) => `SELECT ${id} FROM spent_proof WHERE expires_at <= ? ORDER BY expires_at LIMIT ?`,
);

/** Deletes up to 500 proofs that have expired. Returns the number deleted. */
export function forgetProofs(now: number): Steps<number> {
  return run(textByEngine(FORGET_SQL, now, FORGET_BATCH));
}
