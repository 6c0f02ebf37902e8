import { query } from "../database/database.ts";
import { first, type Steps } from "../database/steps.ts";
import { countOf } from "../foundation/count-of.ts";
import { type Finding, problem, sound } from "../foundation/finding.ts";

const NAME = "accounts.doubt";

/** The settings that say how people sign in. */
interface WaysIn {
  readonly dashboard: {
    readonly passwords: "on" | "off";
    readonly trustedUserHeader: { readonly name: string | null };
  };
  readonly oidc: { readonly issuer: string | null };
}

/**
 * Finds accounts in doubt whose holders should sign in through a proxy or an issuer. There is no finding if everybody signs in with a
 * password.
 */
export function* checkDoubtfulAccounts({ dashboard, oidc }: WaysIn): Steps<Finding[]> {
  const byProxy = dashboard.trustedUserHeader.name === null ? [] : ["dashboard.trustedUserHeader"];
  const byIssuer = oidc.issuer === null || dashboard.passwords === "on" ? [] : ["oidc"];
  const ways = [...byProxy, ...byIssuer].join(" and ");
  if (ways === "") return [];
  const accounts = yield* countDoubtful();
  if (accounts === 0) return [sound(NAME, `no account is in doubt that ${ways} should sign in`)];
  const message = `${countOf(accounts, "account")} cannot sign in by ${ways}, because nobody has proved the address`;
  return [problem(NAME, message, { kind: "vouch_for_accounts" })];
}

function* countDoubtful(): Steps<number> {
  const inDoubt = query
    .selectFrom("account")
    .select(({ fn }) => fn.countAll().as("accounts"))
    .where("is_doubtful", "=", 1)
    .where("email_proved_at", "is", null);
  return Number((yield* first(inDoubt))?.accounts ?? 0);
}
