import { recordChange } from "../audit/audit-store.ts";
import { query } from "../database/database.ts";
import { first, run, type Steps } from "../database/steps.ts";
import type { Account } from "./workspace.ts";

/** What an issuer says about a person who signs in. */
export interface GroupVerdict {
  readonly issuer: string;
  /** Null if no group makes people operators. */
  readonly group: string | null;
  readonly isInGroup: boolean;
}

/**
 * Makes an account an operator if it is in the group, or takes back what this issuer's group gave. An operator that a person made stays
 * one, and so does the last operator, because somebody must see everything.
 */
export function* applyOperatorGroup(account: Account, verdict: GroupVerdict, now: number): Steps<void> {
  const { issuer, group, isInGroup } = verdict;
  if (isInGroup === account.isOperator) return;
  if (!isInGroup && !(yield* mayBeTakenBack(account.id, issuer))) return;
  yield* run(
    query
      .updateTable("account")
      .set({ is_operator: Number(isInGroup), operator_by: isInGroup ? issuer : null })
      .where("id", "=", account.id),
  );
  const action = isInGroup ? "account.make-operator" : "account.unmake-operator";
  const detail = group === null ? `by ${issuer}` : `by the group ${group} of ${issuer}`;
  yield* recordChange(null, { action, subject: account.email, workspaceId: null, detail }, now);
}

function* mayBeTakenBack(accountId: string, issuer: string): Steps<boolean> {
  const accounts = query.selectFrom("account").select("operator_by");
  const own = yield* first(accounts.where("id", "=", accountId));
  if (own?.operator_by !== issuer) return false;
  const others = query.selectFrom("account").select("id").where("is_operator", "=", 1);
  return (yield* first(others.where("id", "<>", accountId).limit(1))) !== undefined;
}
