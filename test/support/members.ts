import type { Database } from "../../src/database/database.ts";
import type { Actor } from "../../src/operations/actor.ts";
import { type Membership, storeMember } from "../../src/workspaces/member-store.ts";
import { insertAccountRows } from "../../src/workspaces/workspace-store.ts";
import { NOON } from "./fake-clock.ts";
import { twoOwners } from "./two-owners.ts";

export const READER: Membership = { role: "reader", endpoints: null, mayExport: true, seesSpamDetails: true };
export const EDITOR: Membership = { ...READER, role: "editor" };
export const OWNER: Membership = { ...READER, role: "owner" };

/** Makes an account and adds it to a workspace as a member. */
export async function addMember(
  db: Database,
  workspaceId: string,
  email: string,
  membership: Membership,
): Promise<Actor & { readonly kind: "account" }> {
  return db.transaction(function* () {
    const { account } = yield* insertAccountRows(email, NOON);
    const made = { since: NOON, byAccountId: null };
    yield* storeMember({ workspaceId, accountId: account.id }, membership, made);
    return { kind: "account", accountId: account.id, email, isOperator: false } as const;
  });
}

/**
 * Makes the forms of {@link twoOwners}, and adds a member of each kind to Ben's workspace, which has the forms Shop and Jobs. Cleo is a
 * stranger to it.
 */
export async function withMembers(db: Database) {
  const owners = await twoOwners(db);
  const { ben, shop } = owners;
  const add = (email: string, membership: Membership) => addMember(db, ben.workspace.id, email, membership);
  return {
    ...owners,
    workspace: ben.workspace.id,
    owner: await add("owner@example.com", OWNER),
    editor: await add("editor@example.com", EDITOR),
    reader: await add("reader@example.com", READER),
    bound: await add("bound@example.com", { ...READER, endpoints: [shop.endpoint] }),
    boundEditor: await add("bound-editor@example.com", { ...EDITOR, endpoints: [shop.endpoint] }),
    silent: await add("silent@example.com", { ...READER, mayExport: false, seesSpamDetails: false }),
  };
}
