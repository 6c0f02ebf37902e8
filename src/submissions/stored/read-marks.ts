import { query } from "../../database/database.ts";
import { all, run, type Steps } from "../../database/steps.ts";

/**
 * Records which submissions an account has read. A new submission is unread and has no row; the rows of a deleted submission are deleted
 * with it. The caller has checked that the account may see the submissions.
 */

/** Ids of submissions that do not exist are ignored. */
export function* insertReadRows(accountId: string, ids: readonly string[]): Steps<void> {
  if (ids.length === 0) return;
  yield* run(
    query
      .insertInto("submission_read")
      .columns(["submission_id", "account_id"])
      .expression((eb) =>
        eb
          .selectFrom("submission")
          .select(["id", eb.val(accountId).as("account_id")])
          .where("id", "in", ids),
      )
      .onConflict((conflict) => conflict.doNothing()),
  );
}

export function* deleteReadRows(accountId: string, ids: readonly string[]): Steps<void> {
  if (ids.length === 0) return;
  yield* run(
    query.deleteFrom("submission_read").where("submission_id", "in", ids).where("account_id", "=", accountId),
  );
}

/** Returns the ids of those of these submissions that the account has read. */
export function* listRead(accountId: string, ids: readonly string[]): Steps<ReadonlySet<string>> {
  if (ids.length === 0) return new Set();
  const rows = yield* all(
    query
      .selectFrom("submission_read")
      .select("submission_id")
      .where("submission_id", "in", ids)
      .where("account_id", "=", accountId),
  );
  return new Set(rows.map(({ submission_id: id }) => id));
}
