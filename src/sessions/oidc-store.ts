import { query } from "../database/database.ts";
import { all, first, run, type Steps } from "../database/steps.ts";

/** A person as an issuer identifies them. An issuer never gives a subject to another person, but may do so with an address. */
export interface Subject {
  readonly issuer: string;
  readonly subject: string;
}

/** The account that a subject is bound to; undefined if there is none. */
export function* findBoundAccount({ issuer, subject }: Subject): Steps<string | undefined> {
  const bindings = query.selectFrom("oidc_binding").select("account_id");
  return (yield* first(bindings.where("issuer", "=", issuer).where("subject", "=", subject)))?.account_id;
}

/** Whether an account is bound to an issuer. @param issuer null means any issuer. */
export function* isBound(accountId: string, issuer: string | null): Steps<boolean> {
  let bindings = query.selectFrom("oidc_binding").select("issuer").where("account_id", "=", accountId);
  if (issuer !== null) bindings = bindings.where("issuer", "=", issuer);
  return (yield* first(bindings.limit(1))) !== undefined;
}

/** Whether any account is bound to an issuer. */
export function* isAnybodyBound(): Steps<boolean> {
  return (yield* first(query.selectFrom("oidc_binding").select("account_id").limit(1))) !== undefined;
}

/** Binds an account to a subject. Call in the transaction that found neither of them bound at this issuer. */
export function* bindSubject({ issuer, subject }: Subject, accountId: string, now: number): Steps<void> {
  const binding = { issuer, subject, account_id: accountId, bound_at: now };
  yield* run(query.insertInto("oidc_binding").values(binding));
}

/** Ends all bindings of an account. Returns the issuers that it was bound to. */
export function* dropBindings(accountId: string): Steps<string[]> {
  const own = query.selectFrom("oidc_binding").select("issuer").where("account_id", "=", accountId);
  const issuers = (yield* all(own.orderBy("issuer"))).map(({ issuer }) => issuer);
  yield* run(query.deleteFrom("oidc_binding").where("account_id", "=", accountId));
  return issuers;
}
