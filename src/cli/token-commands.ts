import type { Command } from "commander";
import { plainText } from "../foundation/plain-text.ts";
import { readDuration } from "../foundation/time-text.ts";
import { type Scope, SCOPES } from "../operations/access.ts";
import { createToken, listAllTokens, revokeToken } from "../tokens/token-operations.ts";
import { addNoun, command, refuse } from "./command.ts";
import { withNewDatabase } from "./open.ts";
import { operate } from "./operate.ts";

export function register(program: Command): void {
  addNoun(program, "token", "Tokens with which programs use the HTTP API", [create, list, revoke]);
}

const create = command({
  usage: "create",
  summary: "Make a token and print it, once",
  notes: `Scopes: ${SCOPES.join(", ")}.

A token can never do more than the account it belongs to. One that is made with --workspace or --endpoint
belongs to no account and stays when people leave.`,
  options: [
    { flags: "--name <name>", summary: "what it is for, as lists show it", required: true },
    { flags: "--account <account>", summary: "whose it is, by id or e-mail address (else the only account)" },
    { flags: "--workspace <workspace>", summary: "a service token of this workspace, by id or name" },
    { flags: "--endpoint <endpoint>", summary: "a service token of this endpoint alone" },
    {
      flags: "--scope <scope>",
      summary: "what it may do (default: submissions:read endpoints:read recipients:read workspace:read)",
      repeatable: true,
    },
    {
      flags: "--expires <duration>",
      summary: "how long it works, like 12h or 90d, or never (default: 90d)",
      parse: parseExpiry,
    },
  ],
  examples: [
    "formsvc token create --name laptop",
    "formsvc token create --name deploy --workspace ada --scope endpoints:write --scope submissions:read --expires 30d",
  ],
  action: (context, { name, account, workspace, endpoint, scope, expires }) => {
    const scopes = scope?.map(parseScope);
    return operate(
      context,
      async ({ perform }) => {
        const made = await perform(createToken, {
          name,
          account,
          workspace,
          endpoint,
          ...(scopes !== undefined && { scopes }),
          ...(expires !== null && { expires_in_ms: expires.ms }),
        });
        const { output } = context;
        const { token, secret } = made;
        output.mustBeTaken(
          `the token ${token.id} works already and was shown to nobody: formsvc token revoke ${token.id}`,
        );
        if (output.isJson) return output.json(made);
        output.line(`token  ${token.id}`);
        output.line(`secret  ${secret}`);
        const until = token.expires_at === null ? "until it is revoked" : `until ${token.expires_at}`;
        return output.note(`It is shown this once and works ${until} for: ${token.scopes.join(" ")}`);
      },
      withNewDatabase,
    );
  },
});

const list = command({
  usage: "list",
  summary: "List the tokens without their secrets, and the day on which each was last used",
  action: (context) =>
    operate(context, async ({ perform }) => {
      const listed = await perform(listAllTokens, {});
      if (context.output.isJson) return context.output.json(listed);
      const rows = listed.data.map((token) => [
        token.id,
        plainText(token.name),
        token.account ?? token.endpoint_id ?? token.workspace_id ?? "",
        token.state,
        token.expires_at ?? "never",
        token.last_used_on ?? "never",
        token.scopes.join(" "),
      ]);
      return context.output.table(
        ["ID", "NAME", "OF", "STATE", "EXPIRES", "LAST USED", "SCOPES"],
        rows,
        "no tokens; make one with: formsvc token create --name NAME",
      );
    }),
});

const revoke = command({
  usage: "revoke <token>",
  summary: "Refuse a token from now on, everywhere within a second",
  examples: ["formsvc token revoke tok_01h455vb4pex5vsknk084sn02q"],
  action: (context, _options, [reference]) =>
    operate(context, async ({ perform }) => {
      const revoked = await perform(revokeToken, { token: reference });
      if (context.output.isJson) return context.output.json(revoked);
      context.output.line(revoked.token.id);
      return context.output.note(`the token ${plainText(revoked.token.name)} is revoked`);
    }),
});

function parseScope(text: string): Scope {
  const scope = SCOPES.find((each) => each === text);
  return scope ?? refuse(`there is no scope ${JSON.stringify(text)}; there are: ${SCOPES.join(", ")}`);
}

/** @returns null in milliseconds is never. */
function parseExpiry(text: string): { readonly ms: number | null } {
  if (text === "never") return { ms: null };
  const ms = readDuration(text);
  return ms === null ? refuse("expected a duration like 12h or 90d, or never") : { ms };
}
