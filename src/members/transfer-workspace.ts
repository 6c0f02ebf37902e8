import { z } from "zod";
import type { Steps } from "../database/steps.ts";
import { FormsvcError } from "../foundation/errors.ts";
import { changed, type Context, operation } from "../operations/operation.ts";
import { findMember, type Member, nameOwner, removeMember, storeMember } from "../workspaces/member-store.ts";
import { reachWorkspace } from "../workspaces/reach.ts";
import { workspaceJson, workspaceShape } from "../workspaces/workspace-json.ts";
import type { Account, Workspace } from "../workspaces/workspace.ts";
import { findAccountByEmail } from "../workspaces/workspace-store.ts";
import { ownAccount } from "./member-operations.ts";
import { EVERYTHING } from "./membership.ts";

/**
 * Hands a workspace over. It passes from the asking account if that is an owner, else from the account that the workspace names. Forms,
 * keys, tokens of the workspace and its other members stay as they are.
 */
export const transferWorkspace = operation({
  name: "workspace.transfer",
  summary: "Hand a workspace over to another account, which owns it from then on",
  kind: "danger",
  access: "workspace:transfer",
  input: z.strictObject({
    workspace: z.string().describe("Id of the workspace, or its name if that is unique."),
    to: z
      .string()
      .describe(
        "The e-mail address of the new owner. It must be a member of the workspace; an operator may name any account.",
      ),
    stay: z
      .enum(["editor", "reader"])
      .nullable()
      .default(null)
      .describe("The role that the former owner keeps; null ends their membership."),
  }),
  output: z.strictObject({ workspace: workspaceShape }),
  *run(context, { workspace: reference, to, stay }) {
    const found = yield* reachWorkspace(context, reference);
    const giver = yield* giverOf(context, found);
    const taker = yield* takerOf(context, found, to);
    if (taker.id === giver.accountId) throw ownsAlready(taker.email);
    const { id: workspaceId } = found;
    const made = { since: context.now, byAccountId: ownAccount(context) };
    yield* storeMember({ workspaceId, accountId: taker.id }, { ...EVERYTHING, role: "owner" }, made);
    yield* nameOwner(workspaceId, taker.id);
    yield* stay === null
      ? removeMember(workspaceId, giver.accountId)
      : storeMember(giver, { ...EVERYTHING, role: stay }, made);
    const detail = `${giver.email} → ${taker.email}`;
    const handedOver = { ...found, accountId: taker.id };
    return changed({ workspace: workspaceJson(handedOver) }, { subject: workspaceId, workspaceId, detail });
  },
});

export function ownsAlready(email: string): FormsvcError {
  return new FormsvcError("usage", `${email} owns the workspace already`);
}

/** The owner who hands the workspace over. */
function* giverOf(context: Context, { id, accountId }: Workspace): Steps<Member> {
  const own = ownAccount(context);
  const asking = own === null ? undefined : yield* findMember(id, own);
  const giver = asking?.role === "owner" ? asking : yield* findMember(id, accountId);
  if (giver === undefined) throw new Error(`the workspace ${id} has no owner`);
  return giver;
}

/** The new owner. Only operators learn whether an address has an account here. @throws not_found */
function* takerOf({ viewing }: Context, { id, name }: Workspace, email: string): Steps<Account> {
  const account = yield* findAccountByEmail(email);
  const isMember = account !== undefined && (yield* findMember(id, account.id)) !== undefined;
  if (account !== undefined && (viewing.isOperator || isMember)) return account;
  const shown = email.slice(0, 254);
  throw new FormsvcError(
    "not_found",
    viewing.isOperator ? `there is no account ${shown}` : `${shown} is no member of ${name}`,
  );
}
