import type { Command } from "commander";
import { accountJson, workspaceJson } from "../workspaces/workspace-json.ts";
import { toIsoTime } from "../foundation/clock.ts";
import { createAccount, listAccounts } from "../workspaces/workspace-store.ts";
import { addNoun, command } from "./command.ts";
import { withDatabase, withNewDatabase } from "./open.ts";

export function register(program: Command): void {
  addNoun(program, "account", "Owners of workspaces", [create, list]);
}

const create = command({
  usage: "create <email>",
  summary: "Make an account with its workspace",
  examples: ["formsvc account create ada@example.com"],
  action: (context, _options, [email]) =>
    withNewDatabase(context, async (db, config) => {
      const { account, workspace } = await db.transaction(() =>
        createAccount(email, context.clock.now(), config.newWorkspacePlan),
      );
      if (context.output.isJson) {
        return context.output.json({ account: accountJson(account), workspace: workspaceJson(workspace) });
      }
      context.output.line(account.id);
      return context.output.note(
        `account ${account.email} with workspace ${workspace.id} (${workspace.name}, ${workspace.plan})`,
      );
    }),
});

const list = command({
  usage: "list",
  summary: "List the accounts",
  action: (context) =>
    withDatabase(context, async (db) => {
      const accounts = await db.read(() => listAccounts());
      if (context.output.isJson) return context.output.json({ data: accounts.map(accountJson) });
      const rows = accounts.map(({ id, email, createdAt }) => [id, email, toIsoTime(createdAt)]);
      return context.output.table(
        ["ID", "EMAIL", "CREATED"],
        rows,
        "no accounts yet; make one with: formsvc account create EMAIL",
      );
    }),
});
