import { z } from "zod";
import { toIsoTime } from "../foundation/clock.ts";
import { FormsvcError } from "../foundation/errors.ts";
import { isId } from "../foundation/id.ts";
import { changed, type Outcome, type OwnChange, operation } from "../operations/operation.ts";
import { accountMade, accountReference, addAccount, signInChange } from "../workspaces/account-operations.ts";
import { accountJson, accountShape } from "../workspaces/workspace-json.ts";
import { getAccount, hasAccounts } from "../workspaces/workspace-store.ts";
import type { Account } from "../workspaces/workspace.ts";
import { clearTotp, noteFactorChanged } from "./credential-store.ts";
import { dropPasskeyRows } from "./passkey-store.ts";
import { dropCodesOfNothing, findSecondFactors } from "./second-factor.ts";
import { endOtherSessions, endSession, endSessions, listSessions } from "./session.ts";
import { sessionJson, sessionShape } from "./session-json.ts";
import { makeSignInLink } from "./sign-in-link.ts";

/** Makes a sign-in link. On the machine a link may be the first thing of all: then it makes the first account, which is an operator. */
export const giveSignInLink = operation({
  name: "account.sign-in-link",
  summary: "Make a link that sets an account's password and signs in, once and within 30 minutes",
  kind: "write",
  access: "accounts:sign-in",
  input: z.strictObject(accountReference),
  output: z.strictObject({
    account: accountShape,
    token: z.string().describe("The token of the link, which is shown only now."),
    expires_at: z.string(),
    made_account: z
      .boolean()
      .describe("Whether this is the first account, and was made together with the link."),
  }),
  *run(context, { account: reference }) {
    const { actor, now } = context;
    const isFirst = actor.kind === "terminal" && !isId("acct", reference) && !(yield* hasAccounts());
    const before = isFirst ? [accountMade(yield* addAccount(context, reference))] : [];
    const { account, token, expiresAt } = yield* makeSignInLink(reference, now);
    const link = { account: accountJson(account), token, expires_at: toIsoTime(expiresAt) };
    return changed({ ...link, made_account: isFirst }, ...before, changeOf(account));
  },
});

/** Removes the app of a person who has lost both the app and the recovery codes. */
export const resetTotp = operation({
  ...signInChange,
  name: "account.reset-totp",
  summary: "Remove an account's second factor, app and passkeys, and end its sessions",
  *run({ now }, { account: reference }) {
    const account = yield* getAccount(reference);
    if ((yield* findSecondFactors(account.id)) === null)
      throw new FormsvcError("conflict", `${account.email} has no second factor`);
    yield* clearTotp(account.id, now);
    yield* dropPasskeyRows(account.id, null);
    yield* dropCodesOfNothing(account.id);
    yield* noteFactorChanged(account.id, now);
    yield* endSessions(account.id);
    return changed({ account: accountJson(account) }, changeOf(account));
  },
});

export const listAccountSessions = operation({
  name: "account.sessions",
  summary: "List the browsers that are signed in to the dashboard with an account",
  kind: "read",
  access: "operator",
  input: z.strictObject(accountReference),
  output: z.strictObject({ data: z.array(sessionShape) }),
  *run({ now, config }, { account }) {
    const { id } = yield* getAccount(account);
    return { data: (yield* listSessions(id, now, config.dashboard)).map(sessionJson) };
  },
});

const ended = z.strictObject({ ended: z.number() });
const session = z.string().nullable().default(null);

export const endAccountSessions = operation({
  name: "account.end-sessions",
  summary: "Sign an account out of the dashboard, in every browser or in one",
  kind: "danger",
  access: "operator",
  input: z.strictObject({
    ...accountReference,
    session: session.describe("Id of the only session to end; null ends all of them."),
  }),
  output: ended,
  *run(_context, { account: reference, session: only }) {
    const account = yield* getAccount(reference);
    const count =
      only === null ? yield* endSessions(account.id) : Number(yield* endSession(account.id, only));
    return ending(account, count);
  },
});

export const endOwnSessions = operation({
  name: "account.end-own-sessions",
  summary: "Sign oneself out in one browser, or in all but one",
  kind: "write",
  access: "own-account",
  input: z.strictObject({
    session: session.describe("Id of the only session to end."),
    all_but: session.describe("Id of the only session that stays; used if no session to end is named."),
  }),
  output: ended,
  *run({ actor }, { session: only, all_but: kept }) {
    if (actor.kind !== "account")
      throw new FormsvcError("forbidden", "Only somebody who is signed in has sessions.");
    if (only === null && kept === null)
      throw new FormsvcError("usage", "name the session that ends, or the one that stays");
    const account = yield* getAccount(actor.accountId);
    const { id } = account;
    const count =
      only === null ? yield* endOtherSessions(id, kept ?? "") : Number(yield* endSession(id, only));
    return ending(account, count);
  },
});

function ending(account: Account, count: number): Outcome<z.output<typeof ended>> {
  const change = { action: "account.end-sessions", ...changeOf(account), detail: `${count} ended` } as const;
  return changed({ ended: count }, ...(count > 0 ? [change] : []));
}

function changeOf({ email }: Account): OwnChange {
  return { subject: email, workspaceId: null, detail: null };
}
