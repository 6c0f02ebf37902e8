import { z } from "zod";
import type { Steps } from "../database/steps.ts";
import { FormsvcError } from "../foundation/errors.ts";
import { changed, operation } from "../operations/operation.ts";
import { endTokensOf } from "../tokens/token-store.ts";
import { accountReference } from "../workspaces/account-operations.ts";
import { endDoubt } from "../workspaces/proved-email.ts";
import { accountJson, accountShape } from "../workspaces/workspace-json.ts";
import { getAccount } from "../workspaces/workspace-store.ts";
import { dropCredential, dropRecoveryCodes } from "./credential-store.ts";
import { dropPasskeyRows } from "./passkey-store.ts";
import { endSessions } from "./session.ts";

/**
 * Ends the doubt about an account. Such an account was made by a link that somebody else had too, so its maker may not be the holder of the
 * address. Nothing that was used to sign in to it counts any more; the holder comes in by the proxy, the issuer, or a link.
 */
export const vouchForAccount = operation({
  name: "account.vouch",
  summary:
    "Say that an account belongs to the holder of its address, and end the password, second factor, sessions and tokens that it has from before",
  kind: "danger",
  access: "operator",
  input: z.strictObject(accountReference),
  output: z.strictObject({ account: accountShape }),
  *run({ now }, { account: reference }) {
    const account = yield* getAccount(reference);
    if (!account.isDoubtful)
      throw new FormsvcError("conflict", `nobody doubts whose address ${account.email} is`);
    yield* dropEntries(account.id, now);
    yield* endDoubt(account.id);
    const change = { subject: account.email, workspaceId: null, detail: null };
    return changed({ account: accountJson({ ...account, isDoubtful: false }) }, change);
  },
});

/** Ends everything by which somebody can sign in to the account. */
function* dropEntries(accountId: string, now: number): Steps<void> {
  yield* dropCredential(accountId);
  yield* dropPasskeyRows(accountId, null);
  yield* dropRecoveryCodes(accountId);
  yield* endSessions(accountId);
  yield* endTokensOf(accountId, now);
}
