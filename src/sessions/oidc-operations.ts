import { FormsvcError } from "../foundation/errors.ts";
import { changed, operation } from "../operations/operation.ts";
import { signInChange } from "../workspaces/account-operations.ts";
import { accountJson } from "../workspaces/workspace-json.ts";
import { getAccount } from "../workspaces/workspace-store.ts";
import { dropBindings } from "./oidc-store.ts";
import { endSessions } from "./session.ts";

/**
 * Ends the binding of an account to an issuer: for a person whom the issuer now knows under a new subject, or an account that was bound to
 * the wrong person.
 */
export const unbindAccount = operation({
  ...signInChange,
  name: "account.unbind",
  summary: "Forget who an account is at the OpenID issuer, and end its sessions; its address binds it anew",
  *run(_context, { account: reference }) {
    const account = yield* getAccount(reference);
    const issuers = yield* dropBindings(account.id);
    if (issuers.length === 0)
      throw new FormsvcError("conflict", `${account.email} never signed in by an OpenID issuer`);
    yield* endSessions(account.id);
    const change = { subject: account.email, workspaceId: null, detail: issuers.join(", ") };
    return changed({ account: accountJson(account) }, change);
  },
});
