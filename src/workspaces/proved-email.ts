import { query } from "../database/database.ts";
import { first, run, type Steps } from "../database/steps.ts";

/** Remembers that somebody showed to read the mail of the account's address, by the link of a letter. */
export function* noteEmailProved(accountId: string, now: number): Steps<void> {
  yield* run(query.updateTable("account").set({ email_proved_at: now }).where("id", "=", accountId));
}

/**
 * Whether an address is the account's own and its holder has shown to read its mail. One that an operator typed proves nothing, nor does
 * a sign-in by a link that was made on the machine.
 */
export function* isOwnProvedAddress(accountId: string, address: string): Steps<boolean> {
  const accounts = query.selectFrom("account").select(["email", "email_proved_at"]);
  const account = yield* first(accounts.where("id", "=", accountId));
  if (account === undefined || account.email_proved_at === null) return false;
  return account.email.toLowerCase() === address.toLowerCase();
}

/** What somebody reads whom a proxy or an issuer names by the address of a doubtful account. */
export const DOUBTFUL =
  "Nobody has shown yet that the account with this address is yours: somebody else may have made it. Ask whoever runs this server to vouch for the address.";

/** Remembers that nobody knows yet whose address an account has: whoever made its link could have used it. */
export function* noteDoubt(accountId: string): Steps<void> {
  yield* run(query.updateTable("account").set({ is_doubtful: 1 }).where("id", "=", accountId));
}

/** For somebody whose word for the address is taken. It proves no address: nobody has shown to read its mail. */
export function* endDoubt(accountId: string): Steps<void> {
  yield* run(query.updateTable("account").set({ is_doubtful: 0 }).where("id", "=", accountId));
}
