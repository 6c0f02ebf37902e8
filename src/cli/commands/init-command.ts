import { existsSync, rmSync, writeFileSync } from "node:fs";
import type { Command } from "commander";
import { defaultConfig } from "../../config/config.ts";
import { refuseForeignOwner } from "../../config/foreign-owner.ts";
import { isDatabaseAddress } from "../../database/postgresql/address.ts";
import { namedConfigFile } from "../../config/load-config.ts";
import { FormsvcError } from "../../foundation/errors.ts";
import { createAccount, listAllAccounts } from "../../workspaces/account-operations.ts";
import { listAllWorkspaces } from "../../workspaces/workspace-operations.ts";
import { FIRST_ACCOUNT_EMAIL } from "../../workspaces/workspace-store.ts";
import { checkEmail } from "../../workspaces/workspace.ts";
import { addCommand, command } from "../command.ts";
import { withNewDatabase } from "../open.ts";
import { operateHere } from "../operate.ts";
import { describePlan } from "./workspace-commands.ts";

export function register(program: Command): void {
  addCommand(program, init);
}

const DEFAULT_FILE = "./formsvc.config.json";

const init = command({
  usage: "init",
  isLocal: true,
  summary:
    "Write a configuration file and create the database, an account and its workspace, if they are missing",
  options: [{ flags: "--email <email>", summary: "the account's e-mail address (default: owner@localhost)" }],
  examples: ["formsvc init --email ada@example.com"],
  action: async (context, options) => {
    const email = options.email === null ? null : checkEmail(options.email);
    const file = namedConfigFile(context.configFile) ?? DEFAULT_FILE;
    if (namedConfigFile(context.configFile) === null) refuseForeignOwner(file, "configuration");
    const wrote = !existsSync(file);
    if (wrote) writeConfigFile(file, context.databasePath);
    const made = operateHere(
      { ...context, configFile: file },
      async ({ perform, here: { db, config } }) => {
        const { output } = context;
        const { data: before } = await perform(listAllWorkspaces, {});
        const isEmpty = before.length === 0;
        const workspace =
          before[0] ?? (await perform(createAccount, { email: email ?? FIRST_ACCOUNT_EMAIL })).workspace;
        if (output.isJson) return output.json({ config: file, database: db.name, workspace });
        output.note(`configuration  ${file}${wrote ? "" : " (was there)"}`);
        output.note(`database       ${db.name}`);
        if (wrote && db.engine === "postgresql" && context.databasePath !== null)
          output.note("the address is a secret and not in that file: set FORMSVC_DATABASE_URL to it");
        output.note(`workspace      ${workspace.id} (${workspace.name})${isEmpty ? "" : " (was there)"}`);
        output.note(`plan           ${describePlan(workspace, config.plans, before.length < 2)}`);
        const { data: accounts } = await perform(listAllAccounts, {});
        if (email !== null && !accounts.some((account) => account.email === email)) {
          output.note(
            `${email} was not made, because there is an account; if you want both: formsvc account create ${email}`,
          );
        }
        if (db.engine === "postgresql") return undefined;
        const account = accounts.find((each) => each.email === email) ?? accounts[0];
        return output.note(
          `next: formsvc endpoint create --name NAME --schema FILE, then: formsvc serve; for the dashboard: formsvc account sign-in-link ${account?.email ?? "EMAIL"}`,
        );
      },
      withNewDatabase,
    );
    // If the database cannot be created, the configuration would make every later command fail, so it is removed.
    await made.catch((error: unknown) => {
      if (wrote) rmSync(file);
      throw error;
    });
  },
});

const MISSING_FOLDER = new Set(["ENOENT", "ENOTDIR"]);

/**
 * Writes a file that everybody may read: it holds no secret, not even an address with a password, and a service reads it as its own user.
 */
function writeConfigFile(file: string, databasePath: string | null): void {
  const path =
    databasePath === null || isDatabaseAddress(databasePath) ? defaultConfig.database.path : databasePath;
  const config = { ...defaultConfig, database: { ...defaultConfig.database, path } };
  try {
    writeFileSync(file, `${JSON.stringify(config, null, 2)}\n`, { mode: 0o644, flag: "wx" });
  } catch (error) {
    if (MISSING_FOLDER.has((error as NodeJS.ErrnoException).code ?? ""))
      throw new FormsvcError("usage", `${file}: its folder does not exist; create it first`, {
        cause: error,
      });
    throw new FormsvcError("failed", `${file}: cannot be written (${(error as Error).message})`, {
      cause: error,
    });
  }
}
