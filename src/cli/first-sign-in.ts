import { dashboardAddress } from "../config/dashboard-address.ts";
import type { Config } from "../config/config.ts";
import type { AnyDatabase } from "../database/any-database.ts";
import { toIsoTime } from "../foundation/clock.ts";
import { giveSignInLink } from "../sessions/administer-accounts.ts";
import { canAnybodySignIn } from "../sessions/credential-store.ts";
import { chooseWorkspace, listAccounts } from "../workspaces/workspace-store.ts";
import type { CommandContext } from "./command.ts";

/**
 * If nobody can sign in to the dashboard yet, prints a link that sets the first operator's password, beside the log and never in
 * it. In an empty database it makes the first account.
 *
 * @param url the server's own address, with the port that the system gave.
 */
export async function offerFirstSignIn(
  db: AnyDatabase,
  config: Config,
  { output, clock }: CommandContext,
  url: string,
): Promise<void> {
  const now = clock.now();
  const link = await db.transaction(function* () {
    if (yield* canAnybodySignIn()) return null;
    const accounts = yield* listAccounts();
    const [first] = accounts.filter(({ isOperator }) => isOperator).concat(accounts);
    if (first !== undefined) return yield* giveSignInLink(null, first.email, now);
    yield* chooseWorkspace(null, now, config.newWorkspacePlan);
    const [made] = yield* listAccounts();
    return made === undefined ? null : yield* giveSignInLink(null, made.email, now);
  });
  if (link === null) return;
  const port = Number(new URL(url).port || 80);
  const base = dashboardAddress({ ...config, server: { ...config.server, port } });
  output.note(`
Open the dashboard. This link sets the password of ${link.account.email}; it works once, until ${toIsoTime(link.expiresAt)}:

  ${base}/dashboard/sign-in#${link.token}
`);
}
