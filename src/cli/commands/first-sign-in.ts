import { dashboardAddress } from "../../config/dashboard-address.ts";
import { setTimeout as sleep } from "node:timers/promises";
import type { Config } from "../../config/config.ts";
import type { AnyDatabase } from "../../database/any-database.ts";
import { FormsvcError } from "../../foundation/errors.ts";
import { canAnybodySignIn } from "../../sessions/credential-store.ts";
import { FIRST_ACCOUNT_EMAIL, listAccounts } from "../../workspaces/workspace-store.ts";
import type { CommandContext } from "../command.ts";

/** Time between two tries while another process writes to the database. */
const RETRY_MS = 250;
const TRIES = 40;

/**
 * If nobody can sign in to the dashboard yet, prints a link that sets the first operator's password. It is printed next to the log and
 * never in it. In an empty database, this makes the first account. The server takes posts already, so an error ends nothing: it is noted.
 *
 * @param url the server's own address, with the port that the system chose
 */
export async function offerFirstSignIn(
  db: AnyDatabase,
  config: Config,
  context: CommandContext,
  url: string,
): Promise<void> {
  for (let left = TRIES; ; left -= 1) {
    try {
      return await offerOnce(db, config, context, url);
    } catch (error) {
      if (!(error instanceof FormsvcError)) throw error;
      if (error.code !== "database_busy" || left === 1)
        return context.output.note(
          `no link for the first sign-in was made (${error.message}); make one with: formsvc account sign-in-link EMAIL`,
        );
      await sleep(RETRY_MS);
    }
  }
}

async function offerOnce(
  db: AnyDatabase,
  config: Config,
  context: CommandContext,
  url: string,
): Promise<void> {
  if (await doesSomebodySignIn(db, config)) return;
  const accounts = await db.read(() => listAccounts());
  const first = accounts.find(({ isOperator }) => isOperator) ?? accounts[0];
  // Loaded only here, so that the start of a server loads no operation.
  const [{ terminalHere }, { giveSignInLink }] = await Promise.all([
    import("../operate.ts"),
    import("../../sessions/sign-in-operations.ts"),
  ]);
  const { perform } = terminalHere(context, { db, config });
  const { account, token, expires_at } = await perform(giveSignInLink, {
    account: first?.email ?? FIRST_ACCOUNT_EMAIL,
  });
  const port = Number(new URL(url).port || 80);
  const base = dashboardAddress({ ...config, server: { ...config.server, port } });
  context.output.note(`
Open the dashboard. This link ${config.dashboard.passwords === "on" ? `sets the password of ${account.email}` : `signs ${account.email} in`}; it works once, until ${expires_at}:

  ${base}/dashboard/sign-in#${token}
`);
}

/** Whether somebody can sign in to the dashboard, or a proxy says who has signed in. */
export async function doesSomebodySignIn(db: AnyDatabase, { dashboard }: Config): Promise<boolean> {
  const { trustedUserHeader, passwords } = dashboard;
  return trustedUserHeader.name !== null || (await db.read(() => canAnybodySignIn(passwords)));
}
