import type { Command } from "commander";
import type { z } from "zod";
import { issueKey, listEndpointKeys, revokeKey, rotateKey } from "../../endpoints/key-operations.ts";
import type { issuedKeyShape } from "../../keys/key-json.ts";
import { parseDuration } from "../flags/arguments.ts";
import { addNoun } from "../command.ts";
import { operationCommand, type Printer } from "../operation-command.ts";

export function register(program: Command): void {
  addNoun(program, "key", "The API keys that posts are sent with", [list, issue, rotate, revoke]);
}

const list = operationCommand({
  usage: "list <endpoint>",
  summary:
    "List an endpoint's keys, the last 100 revoked ones too, and whether a browser ever sent a secret one",
  operation: listEndpointKeys,
  input: (_options, [endpoint]) => ({ endpoint }),
  print: ({ output }, { data }) =>
    output.table(
      ["ID", "KEY", "KIND", "STATE", "CREATED", ""],
      data.map(({ id, key, kind, state, created_at: created, seen_in_browser_at: seen }) => [
        id,
        key,
        kind,
        state,
        created,
        seen === null ? "" : `LEAKED: a browser sent it ${seen}; rotate it`,
      ]),
      "no keys; issue one with: formsvc key issue",
    ),
});

type Issued = z.output<typeof issuedKeyShape>;

/** How a new key is printed. It is shown only once. */
const issued = {
  mustBeTaken: ({ key: { id } }: Issued) =>
    `the key ${id} works already and was shown to nobody: formsvc key revoke ${id}`,
  print({ output }: Printer, { key, ...secrets }: Issued) {
    output.line(`key  ${key.id}`);
    output.line(`${key.kind}  ${secrets[key.kind] ?? ""}`);
    output.note("The key is shown this once and cannot be recovered.");
  },
};

const issue = operationCommand({
  ...issued,
  usage: "issue <endpoint>",
  summary: "Issue another key and print it, once",
  options: [
    {
      flags: "--kind <kind>",
      summary: "secret is for servers, publishable for browsers",
      choices: ["secret", "publishable"],
      required: true,
    },
  ],
  operation: issueKey,
  input: ({ kind }, [endpoint]) => ({ endpoint, kind }),
});

const rotate = operationCommand({
  ...issued,
  usage: "rotate <key>",
  summary: "Replace a key by a new one of the same kind, and print the new one, once",
  options: [
    {
      flags: "--grace <duration>",
      summary: "how long the old key is still valid, like 1h or 7d (default: 0s)",
      parse: parseDuration,
    },
  ],
  examples: ["formsvc key rotate key_01h455vb4pex5vsknk084sn02q --grace 7d"],
  operation: rotateKey,
  input: ({ grace }, [key]) => ({ key, grace_ms: grace ?? 0 }),
});

const revoke = operationCommand({
  usage: "revoke <key>",
  operation: revokeKey,
  input: (_options, [key]) => ({ key }),
  print({ output }, { key }) {
    output.line(key.id);
    output.note(`the ${key.kind} key ${key.key} is revoked`);
  },
});
