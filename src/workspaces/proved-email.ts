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

/** Whether whoever made the link of an invitation could have made the account with it, under another one's address. */
export function* isDoubtful(accountId: string): Steps<boolean> {
  const accounts = query.selectFrom("account").select(["email_proved_at", "is_doubtful"]);
  const account = yield* first(accounts.where("id", "=", accountId));
  return account?.is_doubtful === 1 && account.email_proved_at === null;
}
