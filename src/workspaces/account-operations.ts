import { z } from "zod";
import type { Steps } from "../database/steps.ts";
import { changed, type Context, type OwnChange, operation } from "../operations/operation.ts";
import { updateEmailRow } from "./rename.ts";
import type { Account, Workspace } from "./workspace.ts";
import { accountJson, accountShape, workspaceJson, workspaceShape } from "./workspace-json.ts";
import { getAccount, insertAccountRows, listAccounts, updateOperatorRow } from "./workspace-store.ts";

/** How an operation names an account. */
export const accountReference = { account: z.string().describe("Id or e-mail address of the account.") };

/** The common part of operations that change how an account signs in. They return the account. */
export const signInChange = {
  kind: "write",
  access: "accounts:sign-in",
  input: z.strictObject(accountReference),
  output: z.strictObject({ account: accountShape }),
} as const;

const shown = z.strictObject({ account: accountShape });

interface MadeAccount {
  readonly account: Account;
  readonly workspace: Workspace;
}

/** Adds an account with its workspace, as part of an operation. @throws usage, already_exists */
export function addAccount(
  { config, now }: Pick<Context, "config" | "now">,
  email: string,
): Steps<MadeAccount> {
  return insertAccountRows(email, now, config.newWorkspacePlan);
}

/** The record of the new account in the list of changes. */
export function accountMade({ account, workspace }: MadeAccount): OwnChange {
  return { action: "account.create", subject: account.email, workspaceId: workspace.id, detail: null };
}

export const createAccount = operation({
  name: "account.create",
  summary: "Make an account with its workspace; the first one is an operator",
  kind: "write",
  access: "operator",
  input: z.strictObject({ email: z.string() }),
  output: z.strictObject({ account: accountShape, workspace: workspaceShape }),
  *run(context, { email }) {
    const { account, workspace } = yield* addAccount(context, email);
    const change = accountMade({ account, workspace });
    return changed({ account: accountJson(account), workspace: workspaceJson(workspace) }, change);
  },
});

export const listAllAccounts = operation({
  name: "account.list",
  summary: "List the accounts",
  kind: "read",
  access: "operator",
  input: z.strictObject({}),
  output: z.strictObject({ data: z.array(accountShape) }),
  *run() {
    return { data: (yield* listAccounts()).map(accountJson) };
  },
});

export const showAccount = operation({
  name: "account.show",
  summary: "Show an account",
  kind: "read",
  access: "operator",
  input: z.strictObject(accountReference),
  output: shown,
  *run(_context, { account }) {
    return { account: accountJson(yield* getAccount(account)) };
  },
});

export const setAccount = operation({
  name: "account.set",
  summary:
    "Make an account an operator, who sees every workspace and the whole installation, or take that from it",
  kind: "write",
  access: "operator",
  input: z.strictObject({ ...accountReference, is_operator: z.boolean() }),
  output: shown,
  *run(_context, { account: reference, is_operator: isOperator }) {
    const account = yield* updateOperatorRow(reference, isOperator);
    const action = isOperator ? "account.make-operator" : "account.unmake-operator";
    const change = { action, subject: account.email, workspaceId: null, detail: null } as const;
    return changed({ account: accountJson(account) }, change);
  },
});

export const renameAccount = operation({
  name: "account.rename",
  summary: "Give an account another e-mail address; it signs in with that one from then on",
  kind: "write",
  access: "operator",
  input: z.strictObject({ ...accountReference, email: z.string() }),
  output: shown,
  *run(_context, { account: reference, email }) {
    const before = yield* getAccount(reference);
    const renamed = yield* updateEmailRow(before, email);
    if (renamed.email === before.email) return changed({ account: accountJson(renamed) });
    const change = {
      subject: renamed.email,
      workspaceId: null,
      detail: `${before.email} → ${renamed.email}`,
    };
    return changed({ account: accountJson(renamed) }, change);
  },
});
