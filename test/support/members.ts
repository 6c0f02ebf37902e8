import type { Database } from "../../src/database/database.ts";
import type { Actor } from "../../src/operations/actor.ts";
import { type Membership, storeMember } from "../../src/workspaces/member-store.ts";
import { insertAccountRows } from "../../src/workspaces/workspace-store.ts";
import { NOON } from "./fake-clock.ts";
import { twoOwners } from "./two-owners.ts";

export const READER: Membership = { role: "reader", endpoints: null, mayExport: true, seesSpamDetails: true };
export const EDITOR: Membership = { ...READER, role: "editor" };
export const OWNER: Membership = { ...READER, role: "owner" };

/** Makes an account, and a member of it. */
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

/** Ben's workspace has the forms Shop and Jobs; it has a member of each kind. Cleo's is a stranger's. */
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
