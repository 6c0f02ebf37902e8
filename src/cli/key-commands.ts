import type { Command } from "commander";
import type { z } from "zod";
import { issueKey, listEndpointKeys, revokeKey, rotateKey } from "../endpoints/key-operations.ts";
import type { issuedKeyShape } from "../keys/key-json.ts";
import { parseDuration } from "./arguments.ts";
import { addNoun, command, type CommandContext } from "./command.ts";
import { operate } from "./operate.ts";

export function register(program: Command): void {
  addNoun(program, "key", "The API keys that posts are sent with", [list, issue, rotate, revoke]);
}

const list = command({
  usage: "list <endpoint>",
  summary:
    "List an endpoint's keys, the last 100 revoked ones too, and whether a browser ever sent a secret one",
  action: (context, _options, [reference]) =>
    operate(context, async ({ perform }) => {
      const listed = await perform(listEndpointKeys, { endpoint: reference });
      if (context.output.isJson) return context.output.json(listed);
      const rows = listed.data.map((key) => [
        key.id,
        key.key,
        key.kind,
        key.state,
        key.created_at,
        key.seen_in_browser_at === null
          ? ""
          : `LEAKED: a browser sent it ${key.seen_in_browser_at}; rotate it`,
      ]);
      return context.output.table(
        ["ID", "KEY", "KIND", "STATE", "CREATED", ""],
        rows,
        "no keys; issue one with: formsvc key issue",
      );
    }),
});

const issue = command({
  usage: "issue <endpoint>",
  summary: "Issue another key and print it, once",
  options: [
    {
      flags: "--kind <kind>",
      summary: "for servers or for browsers",
      choices: ["secret", "publishable"],
      required: true,
    },
  ],
  action: (context, options, [reference]) =>
    operate(context, async ({ perform }) =>
      printIssued(context, await perform(issueKey, { endpoint: reference, kind: options.kind })),
    ),
});

const rotate = command({
  usage: "rotate <key>",
  summary: "Replace a key by a new one of the same kind, and print the new one, once",
  options: [
    {
      flags: "--grace <duration>",
      summary: "how long the old key still works, like 1h or 7d (default: 0s)",
      parse: parseDuration,
    },
  ],
  examples: ["formsvc key rotate key_01h455vb4pex5vsknk084sn02q --grace 7d"],
  action: (context, options, [reference]) =>
    operate(context, async ({ perform }) => {
      const input = { key: reference, grace_ms: options.grace ?? 0 };
      return printIssued(context, await perform(rotateKey, input));
    }),
});

const revoke = command({
  usage: "revoke <key>",
  summary: "Refuse a key from now on, everywhere within a second",
  action: (context, _options, [reference]) =>
    operate(context, async ({ perform }) => {
      const revoked = await perform(revokeKey, { key: reference });
      if (context.output.isJson) return context.output.json(revoked);
      const { key } = revoked;
      context.output.line(key.id);
      return context.output.note(`the ${key.kind} key ${key.key} is revoked`);
    }),
});

function printIssued({ output }: CommandContext, issued: z.output<typeof issuedKeyShape>): void {
  const { key } = issued;
  output.mustBeTaken(`the key ${key.id} works already and was shown to nobody: formsvc key revoke ${key.id}`);
  if (output.isJson) return output.json(issued);
  output.line(`key  ${key.id}`);
  output.line(`${key.kind}  ${issued[key.kind] ?? ""}`);
  return output.note("The key is shown this once and cannot be recovered.");
}
