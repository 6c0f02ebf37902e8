import { query } from "../database/database.ts";
import { first, run, type Steps } from "../database/steps.ts";
import { isSameAddress } from "../foundation/mail-address.ts";

/** Records that the account's holder reads the mail of its address, because they used the link of a letter. */
export function* noteEmailProved(accountId: string, now: number): Steps<void> {
  yield* run(query.updateTable("account").set({ email_proved_at: now }).where("id", "=", accountId));
}

/**
 * Whether an address is the account's own and its holder has shown to read its mail. An address that an operator typed proves nothing, nor
 * does a sign-in by a link that was made on the machine.
 */
export function* isOwnProvedAddress(accountId: string, address: string): Steps<boolean> {
  const accounts = query.selectFrom("account").select(["email", "email_proved_at"]);
  const account = yield* first(accounts.where("id", "=", accountId));
  if (account === undefined || account.email_proved_at === null) return false;
  return isSameAddress(account.email, address);
}

/** The message for a person whom a proxy or an issuer names by the address of an account in doubt. */
export const DOUBTFUL =
  "Nobody has shown yet that the account with this address is yours: somebody else may have made it. Ask whoever runs this server to vouch for the address.";

/** Puts an account in doubt: whoever made its link could have used it, so nobody knows yet whose address it has. */
export function* noteDoubt(accountId: string): Steps<void> {
  yield* run(query.updateTable("account").set({ is_doubtful: 1 }).where("id", "=", accountId));
}

/** Ends the doubt about an account, because an operator vouches for it. It proves no address: nobody has shown to read its mail. */
export function* endDoubt(accountId: string): Steps<void> {
  yield* run(query.updateTable("account").set({ is_doubtful: 0 }).where("id", "=", accountId));
}
