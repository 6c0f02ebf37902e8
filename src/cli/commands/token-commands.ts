import type { Command } from "commander";
import { plainText } from "../../foundation/plain-text.ts";
import { readDuration } from "../../foundation/time-text.ts";
import { type Scope, SCOPES } from "../../operations/access.ts";
import { createToken, listAllTokens, revokeToken } from "../../tokens/token-operations.ts";
import { addNoun, refuse } from "../command.ts";
import { operationCommand } from "../operation-command.ts";

export function register(program: Command): void {
  addNoun(program, "token", "Tokens with which programs use the HTTP API", [create, list, revoke]);
}

const create = operationCommand({
  usage: "create",
  summary: "Make a token and print it, once",
  notes: `Scopes: ${SCOPES.join(", ")}.

A token can never do more than the account it belongs to. One that is made with --workspace or --endpoint
belongs to no account and stays when people leave.`,
  options: [
    { flags: "--name <name>", summary: "name that lists show: what the token is for", required: true },
    {
      flags: "--account <account>",
      summary: "account that it belongs to, by id or e-mail address (else the only account)",
    },
    { flags: "--workspace <workspace>", summary: "make a service token for this workspace: its id or name" },
    { flags: "--endpoint <endpoint>", summary: "make a service token for this endpoint alone" },
    {
      flags: "--scope <scope>",
      summary:
        "what it may do; repeatable (default: submissions:read endpoints:read recipients:read workspace:read)",
      repeatable: true,
    },
    {
      flags: "--expires <duration>",
      summary: "how long it is valid, like 12h or 90d, or never (default: 90d)",
      parse: parseExpiry,
    },
  ],
  examples: [
    "formsvc token create --name laptop",
    "formsvc token create --name deploy --workspace ada --scope endpoints:write --scope submissions:read --expires 30d",
  ],
  isFirst: true,
  operation: createToken,
  input: ({ name, account, workspace, endpoint, scope, expires }) => ({
    name,
    account,
    workspace,
    endpoint,
    ...(scope !== null && { scopes: scope.map(parseScope) }),
    ...(expires !== null && { expires_in_ms: expires.ms }),
  }),
  mustBeTaken: ({ token: { id } }) =>
    `the token ${id} works already and was shown to nobody: formsvc token revoke ${id}`,
  print({ output }, { token, secret }) {
    output.line(`token  ${token.id}`);
    output.line(`secret  ${secret}`);
    const until = token.expires_at === null ? "until it is revoked" : `until ${token.expires_at}`;
    output.note(`It is shown this once and works ${until} for: ${token.scopes.join(" ")}`);
  },
});

const list = operationCommand({
  usage: "list",
  summary: "List the tokens without their secrets, and the day on which each was last used",
  operation: listAllTokens,
  input: () => ({}),
  print: ({ output }, { data }) =>
    output.table(
      ["ID", "NAME", "OF", "STATE", "EXPIRES", "LAST USED", "SCOPES"],
      data.map((token) => [
        token.id,
        plainText(token.name),
        token.account ?? token.endpoint_id ?? token.workspace_id ?? "",
        token.state,
        token.expires_at ?? "never",
        token.last_used_on ?? "never",
        token.scopes.join(" "),
      ]),
      "no tokens; make one with: formsvc token create --name NAME",
    ),
});

const revoke = operationCommand({
  usage: "revoke <token>",
  examples: ["formsvc token revoke tok_01h455vb4pex5vsknk084sn02q"],
  operation: revokeToken,
  input: (_options, [token]) => ({ token }),
  print({ output }, { token }) {
    output.line(token.id);
    output.note(`the token ${plainText(token.name)} is revoked`);
  },
});

function parseScope(text: string): Scope {
  const scope = SCOPES.find((each) => each === text);
  return scope ?? refuse(`there is no scope ${JSON.stringify(text)}; there are: ${SCOPES.join(", ")}`);
}

/** @returns milliseconds; null means that the token never expires */
function parseExpiry(text: string): { readonly ms: number | null } {
  if (text === "never") return { ms: null };
  const ms = readDuration(text);
  return ms === null ? refuse("expected a duration like 12h or 90d, or never") : { ms };
}
