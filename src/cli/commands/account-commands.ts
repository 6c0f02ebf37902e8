import type { Command } from "commander";
import type { z } from "zod";
import { WORKSPACE_CONTENTS } from "../../app/features.ts";
import { dashboardAddress } from "../../config/dashboard-address.ts";
import { countOf } from "../../foundation/count-of.ts";
import { FormsvcError } from "../../foundation/errors.ts";
import { plainText } from "../../foundation/plain-text.ts";
import {
  endAccountSessions,
  giveSignInLink,
  listAccountSessions,
  resetTotp,
} from "../../sessions/sign-in-operations.ts";
import { unbindAccount } from "../../sessions/oidc-operations.ts";
import { vouchForAccount } from "../../sessions/vouch-operation.ts";
import { countAccountContents, deleteAccount, stillOwns } from "../../workspaces/delete-account.ts";
import {
  createAccount,
  listAllAccounts,
  renameAccount,
  setAccount,
  showAccount,
} from "../../workspaces/account-operations.ts";
import { isOnlyOperator } from "../../workspaces/workspace.ts";
import { confirm, parseBaseUrl, yesOption } from "../flags/arguments.ts";
import { addNoun, command, refuse } from "../command.ts";
import { withNewDatabase } from "../open.ts";
import { operate, operateHere } from "../operate.ts";
import { operationCommand } from "../operation-command.ts";
import type { PerformCommand } from "../output/terminal.ts";
import { contentsText } from "./workspace-commands.ts";

export function register(program: Command): void {
  addNoun(program, "account", "Owners of workspaces, and how they sign in to the dashboard", [
    create,
    list,
    set,
    rename,
    signInLink,
    resetFactor,
    unbind,
    vouch,
    sessions,
    endSessions,
    remove,
  ]);
}

const create = operationCommand({
  usage: "create <email>",
  summary: "Make an account with its workspace",
  examples: ["formsvc account create ada@example.com"],
  isFirst: true,
  operation: createAccount,
  input: (_options, [email]) => ({ email }),
  print({ output }, { account, workspace }) {
    output.line(account.id);
    output.note(
      `account ${account.email} with workspace ${workspace.id} (${workspace.name}, ${workspace.plan})`,
    );
  },
});

const list = operationCommand({
  usage: "list",
  operation: listAllAccounts,
  input: () => ({}),
  print: ({ output }, { data }) =>
    output.table(
      ["ID", "EMAIL", "OPERATOR", "ADDRESS", "CREATED"],
      data.map((account) => [
        account.id,
        account.email,
        account.is_operator ? "yes" : "no",
        account.is_doubtful ? "in doubt" : "",
        account.created_at,
      ]),
      "no accounts yet; make one with: formsvc account create EMAIL",
    ),
});

const set = operationCommand({
  usage: "set <email>",
  options: [
    { flags: "--operator", summary: "let it see everything, as the first account does" },
    { flags: "--no-operator", summary: "let it see its own workspaces only" },
  ],
  examples: ["formsvc account set ada@example.com --operator"],
  operation: setAccount,
  input: ({ operator }, [email]) => ({
    account: email,
    is_operator: operator ?? refuse("give something to set: --operator or --no-operator"),
  }),
  print: ({ output }, { account }) =>
    output.note(
      account.is_operator
        ? `${account.email} is an operator: it sees every workspace`
        : `${account.email} is no operator: it sees its own workspaces`,
    ),
});

const rename = operationCommand({
  usage: "rename <email> <new-email>",
  notes: "Password, second factor, sessions and workspaces stay. Recipients of e-mail keep their addresses.",
  examples: ["formsvc account rename ada@example.com ada@example.org"],
  operation: renameAccount,
  input: (_options, [email, newEmail]) => ({ account: email, email: newEmail }),
  print: ({ output }, { account }) => output.note(`${account.email} signs in with this address from now on`),
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
    operateHere(
      context,
      async ({ perform, here: { config } }) => {
        const { output } = context;
        const base = options.baseUrl ?? dashboardAddress(config);
        const { account, token, expires_at, made_account } = await perform(giveSignInLink, {
          account: email,
        });
        if (made_account)
          output.note(`made the account ${account.email}; it is the first one, so it sees everything`);
        const url = `${base}/dashboard/sign-in#${token}`;
        output.mustBeTaken("the link was made, and nobody has it; make another one");
        if (output.isJson) return output.json({ account, url, expires_at });
        output.line(url);
        const does = config.dashboard.passwords === "on" ? "sets the password of" : "signs in";
        output.note(`${does} ${account.email}: works once, until ${expires_at}, and replaces earlier links`);
        if (!config.dashboard.enabled)
          output.note("dashboard.enabled is false here: a server with this configuration has no dashboard");
      },
      withNewDatabase,
    ),
});

const resetFactor = operationCommand({
  usage: "reset-totp <email>",
  summary:
    "Remove an account's second factor, passkeys too, and end its sessions, when app and recovery codes are lost",
  examples: ["formsvc account reset-totp ada@example.com"],
  operation: resetTotp,
  input: (_options, [email]) => ({ account: email }),
  print: ({ output }, { account }) => output.note(`${account.email} signs in with the password alone now`),
});

const unbind = operationCommand({
  usage: "unbind <email>",
  summary:
    "Forget who the account is at the OpenID issuer and end its sessions; whoever next signs in with its address is bound to it",
  examples: ["formsvc account unbind ada@example.com"],
  operation: unbindAccount,
  input: (_options, [email]) => ({ account: email }),
  print: ({ output }, { account }) =>
    output.note(`${account.email} is nobody at the issuer until the next sign-in`),
});

const vouch = operationCommand({
  usage: "vouch <email>",
  summary:
    "Confirm that an account belongs to the holder of its address, so that they can sign in to it through a proxy or an OpenID issuer",
  notes:
    "An account that was made by a link which an owner handed over is in doubt until then, or until its holder sets a password by a mailed link. Its password, second factor, sessions and tokens end, because whoever made it may know them. If nobody knows who that was, delete the account instead.",
  examples: ["formsvc account vouch ada@example.com"],
  operation: vouchForAccount,
  input: (_options, [email]) => ({ account: email }),
  async ask(input, { perform }) {
    const { account } = await perform(showAccount, input);
    if (!account.is_doubtful) return null;
    const ends = "end its password, second factor, sessions and tokens";
    return { text: `Vouch for ${account.email}, and ${ends}?`, about: { account: account.id } };
  },
  print: ({ output }, { account }) =>
    output.note(
      `${account.email} belongs to the holder of the address; account sign-in-link makes a link to sign in with`,
    ),
});

const sessions = operationCommand({
  usage: "sessions <email>",
  operation: listAccountSessions,
  input: (_options, [email]) => ({ account: email }),
  print: ({ output }, { data }) =>
    output.table(
      ["ID", "SIGNED IN", "LAST USED", "ADDRESS", "BROWSER"],
      data.map((session) => [
        session.id,
        session.created_at,
        session.seen_at,
        session.ip_address ?? "",
        plainText(session.user_agent),
      ]),
      "nobody is signed in with this account",
    ),
});

const endSessions = command({
  usage: "end-sessions <email>",
  summary: "Sign an account out of the dashboard, in every browser or in one",
  options: [
    { flags: "--session <session>", summary: "end only this session: its id, from account sessions" },
    yesOption,
  ],
  examples: [
    "formsvc account end-sessions ada@example.com --yes",
    "formsvc account end-sessions ada@example.com --session ses_01h455vb4pex5vsknk084sn02q --yes",
  ],
  action: (context, { session, yes }, [email]) =>
    operate(context, async ({ perform }) => {
      const { account } = await perform(showAccount, { account: email });
      if (session !== null && !yes) await requireSession(perform, email, session);
      const browsers = session === null ? "every browser" : `the browser of ${session}`;
      await confirm(`Sign ${account.email} out in ${browsers}?`, yes);
      const { ended } = await perform(endAccountSessions, { account: email, session });
      if (session !== null && ended === 0) throw noSession(email, session);
      if (context.output.isJson) return context.output.json({ ended });
      return context.output.note(ended === 1 ? "1 session ended" : `${ended} sessions ended`);
    }),
});

/** Checks that the session exists, before anybody is asked about it. @throws not_found */
async function requireSession(perform: PerformCommand, email: string, session: string): Promise<void> {
  const { data } = await perform(listAccountSessions, { account: email });
  if (!data.some(({ id }) => id === session)) throw noSession(email, session);
}

function noSession(email: string, session: string): FormsvcError {
  return new FormsvcError("not_found", `${email} has no session ${session}`);
}

const contentsParts = () => ({ workspaceContents: WORKSPACE_CONTENTS });

const remove = operationCommand({
  usage: "delete <email>",
  summary: "Delete an account with its sessions and tokens; if it is interrupted, run it again",
  notes: "It is refused while the account is the only owner of a workspace, and for the only operator.",
  options: [
    {
      flags: "--with-workspaces",
      summary: "delete the workspaces that it alone owns too, with all that was sent to their endpoints",
    },
  ],
  examples: [
    "formsvc account delete ada@example.com",
    "formsvc account delete ada@example.com --with-workspaces",
  ],
  operation: deleteAccount,
  parts: contentsParts,
  input: ({ withWorkspaces }, [email]) => ({ account: email, with_workspaces: withWorkspaces }),
  check: (input, { perform }) => requireDeletable(perform, input),
  async ask({ account: reference, with_workspaces: withWorkspaces }, { perform }) {
    const counted = await perform(countAccountContents, { account: reference }, contentsParts);
    const { account } = counted;
    const owned = withWorkspaces ? withOwned(counted) : "";
    return { text: `Delete the account ${account.email}${owned}?`, about: { account: account.id } };
  },
  print: ({ output }, { account }) => output.note(`${account.email} is deleted`),
});

/** @throws conflict as {@link deleteAccount} does; not_found */
async function requireDeletable(
  perform: PerformCommand,
  { account: reference, with_workspaces: withWorkspaces }: z.input<(typeof deleteAccount)["input"]>,
): Promise<void> {
  const { account, workspaces } = await perform(countAccountContents, { account: reference }, contentsParts);
  const { data } = await perform(listAllAccounts, {});
  if (!data.some(({ id, is_operator: isOperator }) => isOperator && id !== account.id))
    throw isOnlyOperator(account.email);
  if (workspaces.length > 0 && withWorkspaces !== true) throw stillOwns(account, workspaces);
}

/** A phrase that lists what is deleted together with the account. */
function withOwned({ workspaces, contents }: z.output<(typeof countAccountContents)["output"]>): string {
  if (workspaces.length === 0) return ", which alone owns no workspace";
  const names = workspaces.map(({ name }) => name).join(", ");
  return ` and ${countOf(workspaces.length, "workspace")} (${names}) with ${contentsText(contents)}`;
}
