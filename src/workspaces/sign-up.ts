import { recordChange } from "../audit/audit-store.ts";
import type { Steps } from "../database/steps.ts";
import { FormsvcError } from "../foundation/errors.ts";
import type { Account, Workspace } from "./workspace.ts";
import { hasAccounts, insertAccountRows } from "./workspace-store.ts";

/** Why nobody can sign up to an empty database. */
export const NO_OPERATOR = "Nobody can sign up yet: whoever runs this server makes their own account first.";

/**
 * Makes an account for the person who signs up, in the transaction that sets its password and signs it in.
 *
 * @param detail how they came to sign up, for the list of changes
 * @throws usage, already_exists; unavailable if there is no account yet: the first account sees everything, so it belongs to whoever runs
 * the server
 */
export function* signUp(
  emailText: string,
  plan: string,
  now: number,
  detail = "signed up",
): Steps<{ account: Account; workspace: Workspace }> {
  if (!(yield* hasAccounts())) throw new FormsvcError("unavailable", NO_OPERATOR);
  const made = yield* insertAccountRows(emailText, now, plan);
  const { id: accountId, email } = made.account;
  const change = { subject: email, workspaceId: made.workspace.id, detail };
  yield* recordChange({ accountId, email }, { action: "account.create", ...change }, now);
  return made;
}
