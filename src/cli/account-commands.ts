import { FormsvcError } from "../foundation/errors.ts";
import type { Command } from "commander";
import { accountJson, workspaceJson } from "../workspaces/workspace-json.ts";
import { dashboardAddress } from "../config/dashboard-address.ts";
import { toIsoTime } from "../foundation/clock.ts";
import { changeOperator, giveFirstSignInLink, resetTotp, signOut } from "../sessions/administer-accounts.ts";
import { sessionJson } from "../sessions/session-json.ts";
import { listSessions } from "../sessions/session.ts";
import { addAccount } from "../workspaces/administer-workspaces.ts";
import { getAccount, listAccounts } from "../workspaces/workspace-store.ts";
import { confirm, parseBaseUrl } from "./arguments.ts";
import { addNoun, command, refuse } from "./command.ts";
import { plainText } from "../foundation/plain-text.ts";
import { withDatabase, withNewDatabase } from "./open.ts";

export function register(program: Command): void {
  addNoun(program, "account", "Owners of workspaces, and how they sign in to the dashboard", [
    create,
    list,
    set,
    signInLink,
    resetFactor,
    sessions,
    endSessions,
  ]);
}

const create = command({
  usage: "create <email>",
  summary: "Make an account with its workspace",
  examples: ["formsvc account create ada@example.com"],
  action: (context, _options, [email]) =>
    withNewDatabase(context, async (db, config) => {
      const { account, workspace } = await db.transaction(() =>
        addAccount(null, email, config.newWorkspacePlan, context.clock.now()),
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
      const rows = accounts.map(({ id, email, isOperator, createdAt }) => [
        id,
        email,
        isOperator ? "yes" : "no",
        toIsoTime(createdAt),
      ]);
      return context.output.table(
        ["ID", "EMAIL", "OPERATOR", "CREATED"],
        rows,
        "no accounts yet; make one with: formsvc account create EMAIL",
      );
    }),
});

const set = command({
  usage: "set <email>",
  summary:
    "Make an account an operator, who sees every workspace and the whole installation, or take that from it",
  options: [
    { flags: "--operator", summary: "sees everything; the first account does" },
    { flags: "--no-operator", summary: "sees its own workspaces only" },
  ],
  examples: ["formsvc account set ada@example.com --operator"],
  action: (context, options, [email]) => {
    const isOperator = options.operator;
    if (isOperator === null) return refuse("give something to set: --operator or --no-operator");
    return withDatabase(context, async (db) => {
      const now = context.clock.now();
      const account = await db.transaction(() => changeOperator(null, email, isOperator, now));
      if (context.output.isJson) return context.output.json({ account: accountJson(account) });
      return context.output.note(
        account.isOperator
          ? `${account.email} is an operator: it sees every workspace`
          : `${account.email} is no operator: it sees its own workspaces`,
      );
    });
  },
});

const signInLink = command({
  usage: "sign-in-link <email>",
  summary:
    "Print a link to the dashboard that sets the account's password and signs in, once and within 30 minutes; without any account yet, the first one is made",
  options: [
    {
      flags: "--base-url <url>",
      summary:
        "address of the dashboard's server (else dashboard.listen, server.baseUrl, or server.host and port)",
      parse: parseBaseUrl,
    },
  ],
  examples: [
    "formsvc account sign-in-link ada@example.com",
    "formsvc account sign-in-link ada@example.com --base-url https://forms.example.com",
  ],
  action: (context, options, [email]) =>
    withNewDatabase(context, async (db, config) => {
      const { output, clock } = context;
      const base = options.baseUrl ?? dashboardAddress(config);
      const link = await db.transaction(() =>
        giveFirstSignInLink(email, config.newWorkspacePlan, clock.now()),
      );
      if (link.isFirst)
        output.note(`made the account ${link.account.email}; it is the first one, so it sees everything`);
      const url = `${base}/dashboard/sign-in#${link.token}`;
      output.mustBeTaken("the link was made, and nobody has it; make another one");
      if (output.isJson) {
        return output.json({
          account: accountJson(link.account),
          url,
          expires_at: toIsoTime(link.expiresAt),
        });
      }
      output.line(url);
      output.note(
        `sets the password of ${link.account.email}: works once, until ${toIsoTime(link.expiresAt)}, and replaces earlier links`,
      );
      if (!config.dashboard.enabled)
        output.note("dashboard.enabled is false here: a server with this configuration has no dashboard");
    }),
});

const resetFactor = command({
  usage: "reset-totp <email>",
  summary: "Remove an account's second factor and end its sessions, when app and recovery codes are lost",
  examples: ["formsvc account reset-totp ada@example.com"],
  action: (context, _options, [email]) =>
    withDatabase(context, async (db) => {
      const account = await db.transaction(() => resetTotp(null, email, context.clock.now()));
      if (context.output.isJson) return context.output.json({ account: accountJson(account) });
      return context.output.note(`${account.email} signs in with the password alone now`);
    }),
});

const sessions = command({
  usage: "sessions <email>",
  summary: "List the browsers that are signed in to the dashboard with an account",
  action: (context, _options, [email]) =>
    withDatabase(context, async (db, { dashboard }) => {
      const now = context.clock.now();
      const found = await db.read(function* () {
        return yield* listSessions((yield* getAccount(email)).id, now, dashboard);
      });
      if (context.output.isJson) return context.output.json({ data: found.map(sessionJson) });
      const rows = found.map(({ id, createdAt, seenAt, ipAddress, userAgent }) => [
        id,
        toIsoTime(createdAt),
        toIsoTime(seenAt),
        ipAddress ?? "",
        plainText(userAgent),
      ]);
      const headings = ["ID", "SIGNED IN", "LAST USED", "ADDRESS", "BROWSER"];
      return context.output.table(headings, rows, "nobody is signed in with this account");
    }),
});

const endSessions = command({
  usage: "end-sessions <email>",
  summary: "Sign an account out of the dashboard, in every browser or in one",
  options: [
    { flags: "--session <session>", summary: "only this one of those that account sessions lists" },
    { flags: "--yes", summary: "do it without being asked" },
  ],
  examples: [
    "formsvc account end-sessions ada@example.com --yes",
    "formsvc account end-sessions ada@example.com --session ses_01h455vb4pex5vsknk084sn02q --yes",
  ],
  action: (context, { session, yes }, [email]) =>
    withDatabase(context, async (db) => {
      const account = await db.read(() => getAccount(email));
      const browsers = session === null ? "every browser" : `the browser of ${session}`;
      await confirm(`Sign ${account.email} out in ${browsers}?`, yes);
      const which = session === null ? "all" : { only: session };
      const ended = await db.transaction(() => signOut(null, email, which, context.clock.now()));
      if (session !== null && ended === 0)
        throw new FormsvcError("not_found", `${email} has no session ${session}`);
      if (context.output.isJson) return context.output.json({ ended });
      return context.output.note(ended === 1 ? "1 session ended" : `${ended} sessions ended`);
    }),
});
