import type { Command } from "commander";
import { issuedKeyJson, keyJson } from "../keys/key-json.ts";
import { addKey, replaceKey, withdrawKey } from "../endpoints/administer-keys.ts";
import { getEndpoint } from "../endpoints/endpoint-store.ts";
import { toIsoTime } from "../foundation/clock.ts";
import type { IssuedKey } from "../keys/issue-key.ts";
import { keyState, listKeys } from "../keys/key-store.ts";
import { parseDuration } from "./arguments.ts";
import { addNoun, command, type CommandContext } from "./command.ts";
import { withDatabase } from "./open.ts";

export function register(program: Command): void {
  addNoun(program, "key", "The API keys that posts are sent with", [list, issue, rotate, revoke]);
}

const list = command({
  usage: "list <endpoint>",
  summary:
    "List an endpoint's keys, the last 100 revoked ones too, and whether a browser ever sent a secret one",
  action: (context, _options, [reference]) =>
    withDatabase(context, async (db) => {
      const keys = await db.read(function* () {
        return yield* listKeys((yield* getEndpoint(reference)).id);
      });
      if (context.output.isJson)
        return context.output.json({ data: keys.map((key) => keyJson(key, context.clock.now())) });
      const rows = keys.map((key) => [
        key.id,
        key.lookup,
        key.kind,
        keyState(key, context.clock.now()),
        toIsoTime(key.createdAt),
        key.seenInBrowserAt === null
          ? ""
          : `LEAKED: a browser sent it ${toIsoTime(key.seenInBrowserAt)}; rotate it`,
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
    withDatabase(context, async (db) => {
      return printIssued(
        context,
        await addKey(db, null, { endpoint: reference, kind: options.kind }, context.clock.now()),
      );
    }),
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
    withDatabase(context, async (db) => {
      const graceMs = options.grace ?? 0;
      return printIssued(
        context,
        await replaceKey(db, null, { key: reference, graceMs }, context.clock.now()),
      );
    }),
});

const revoke = command({
  usage: "revoke <key>",
  summary: "Refuse a key from now on, everywhere within a second",
  action: (context, _options, [reference]) =>
    withDatabase(context, async (db) => {
      const key = await db.transaction(() => withdrawKey(null, reference, context.clock.now()));
      if (context.output.isJson) return context.output.json({ key: keyJson(key, context.clock.now()) });
      context.output.line(key.id);
      return context.output.note(`the ${key.kind} key ${key.lookup} is revoked`);
    }),
});

function printIssued({ output }: CommandContext, issued: IssuedKey): void {
  const { key, text: plain } = issued;
  output.mustBeTaken(`the key ${key.id} works already and was shown to nobody: formsvc key revoke ${key.id}`);
  if (output.isJson) return output.json(issuedKeyJson(issued));
  output.line(`key  ${key.id}`);
  output.line(`${key.kind}  ${plain}`);
  return output.note("The key is shown this once and cannot be recovered.");
}
