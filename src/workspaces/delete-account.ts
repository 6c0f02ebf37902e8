import { z } from "zod";
import { type Database, query } from "../database/database.ts";
import { run, type Steps } from "../database/steps.ts";
import { raiseSettingsVersion } from "../database/settings-version.ts";
import { countOf } from "../foundation/count-of.ts";
import { FormsvcError } from "../foundation/errors.ts";
import { listNames } from "../foundation/list-names.ts";
import { changed, type Context, operation } from "../operations/operation.ts";
import { accountReference } from "./account-operations.ts";
import {
  contentsShape,
  emptyAndDelete,
  type WorkspaceContents,
  type WorkspaceParts,
} from "./delete-workspace.ts";
import { listSolelyOwned, passOn } from "./member-store.ts";
import type { Account, Workspace } from "./workspace.ts";
import { accountJson, accountShape, workspaceJson, workspaceShape } from "./workspace-json.ts";
import { checkOtherOperator, getAccount } from "./workspace-store.ts";

/** The largest number of workspaces that an error message names. */
const MAX_NAMED = 10;

/** What is deleted together with an account: the workspaces that have no other owner, and what is in them. */
export interface GoingWithAccount {
  readonly workspaces: readonly Workspace[];
  readonly contents: z.output<typeof contentsShape>;
}

export async function countWithAccount(
  db: Database,
  accountId: string,
  { count }: Pick<WorkspaceContents, "count">,
): Promise<GoingWithAccount> {
  const workspaces = await db.read(() => listSolelyOwned(accountId));
  const contents = { endpoints: 0, submissions: 0, held: 0 };
  for (const { id } of workspaces) {
    const { endpoints, submissions, held } = await count(db, id);
    contents.endpoints += endpoints;
    contents.submissions += submissions;
    contents.held += held;
  }
  return { workspaces, contents };
}

export const countAccountContents = operation({
  name: "account.count-contents",
  summary: "Count what would be deleted with an account and the workspaces that it alone owns",
  kind: "read",
  access: "operator",
  input: z.strictObject(accountReference),
  output: z.strictObject({
    account: accountShape,
    workspaces: z.array(workspaceShape).describe("The workspaces that the account alone owns."),
    contents: contentsShape.describe("What these workspaces contain together."),
  }),
  async run({ db, parts }: Context<WorkspaceParts>, { account: reference }) {
    const account = await db.read(() => getAccount(reference));
    const { workspaces, contents } = await countWithAccount(db, account.id, parts.workspaceContents);
    return { account: accountJson(account), workspaces: workspaces.map(workspaceJson), contents };
  },
});

/**
 * The change is recorded first, so that after an interruption the record shows who deleted; deleting again finishes the work. The record
 * keeps the account's address. The output is the account as it was.
 */
export const deleteAccount = operation({
  name: "account.delete",
  summary: "Delete an account with its sessions, tokens and, if that is said, its workspaces",
  kind: "danger",
  access: "operator",
  input: z.strictObject({
    ...accountReference,
    with_workspaces: z
      .boolean()
      .default(false)
      .describe(
        "Whether the workspaces that the account alone owns are deleted too. If false, the account is not deleted while it has such workspaces.",
      ),
  }),
  output: z.strictObject({ account: accountShape }),
  async *run(context: Context<WorkspaceParts>, { account: reference, with_workspaces: withWorkspaces }) {
    const { account, owned } = await context.transact(function* () {
      const found = yield* getAccount(reference);
      yield* checkOtherOperator(found);
      const workspaces = yield* listSolelyOwned(found.id);
      if (workspaces.length > 0 && !withWorkspaces) throw stillOwns(found, workspaces);
      const changes = workspaces.map(({ id, name }) => ({
        action: "workspace.delete" as const,
        subject: id,
        workspaceId: id,
        detail: name,
      }));
      const change = { subject: found.email, workspaceId: null, detail: null };
      return changed({ account: found, owned: workspaces }, ...changes, change);
    });
    for (const { id } of owned) yield* emptyAndDelete(context, id);
    await context.db.transaction(() => deleteAccountRow(account));
    return { account: accountJson(account) };
  },
});

export function stillOwns(
  { email }: Pick<Account, "email">,
  workspaces: readonly Pick<Workspace, "name">[],
): FormsvcError {
  const names = listNames(workspaces, MAX_NAMED, ({ name }) => name);
  return new FormsvcError(
    "conflict",
    `${email} is the only owner of ${countOf(workspaces.length, "workspace")}: ${names}; delete them, or say that they go too`,
    { hint: { kind: "delete_with_workspaces" } },
  );
}

/**
 * Deletes the account's row, and with it the rows of its sign-in, sessions, tokens and memberships.
 *
 * @throws conflict for the only operator, and for the only owner of a workspace, because other owners may have left since the deletion
 * began
 */
function* deleteAccountRow(account: Account): Steps<void> {
  yield* checkOtherOperator(account);
  const owned = yield* listSolelyOwned(account.id);
  if (owned.length > 0) throw stillOwns(account, owned);
  yield* passOn(account.id);
  yield* run(query.deleteFrom("account").where("id", "=", account.id));
  yield* raiseSettingsVersion("everything");
}
