import { query } from "../database/database.ts";
import { run, type Steps } from "../database/steps.ts";
import { FormsvcError } from "../foundation/errors.ts";
import { type Account, checkEmail, checkName, type Workspace } from "./workspace.ts";
import { findAccountLike } from "./workspace-store.ts";

/** @throws usage */
export function* updateWorkspaceNameRow(workspace: Workspace, nameText: string): Steps<Workspace> {
  const name = checkName(nameText);
  yield* run(query.updateTable("workspace").set({ name }).where("id", "=", workspace.id));
  return { ...workspace, name };
}

/**
 * Changes an account's address. Nobody has proved that they read the new address. The operator who renames vouches for the address, but not
 * for who made the account: an account in doubt stays in doubt, and one that was proved does not become doubtful again.
 *
 * @throws usage; already_exists if another account has the address
 */
export function* updateEmailRow(account: Account, emailText: string): Steps<Account> {
  const email = checkEmail(emailText);
  const other = yield* findAccountLike(email);
  if (other !== undefined && other.id !== account.id)
    throw new FormsvcError("already_exists", `there is an account ${other.email} already`);
  const set = { email, email_proved_at: null, is_doubtful: Number(account.isDoubtful) };
  yield* run(query.updateTable("account").set(set).where("id", "=", account.id));
  return { ...account, email };
}
