import { existsSync, statSync } from "node:fs";
import type { Command } from "commander";
import type { z } from "zod";
import type { Steps } from "../../database/steps.ts";
import { findEndpoint } from "../../endpoints/endpoint-store.ts";
import { showEndpoint } from "../../endpoints/endpoint-operations.ts";
import {
  MAX_REPLY_SUBJECT_LENGTH,
  MAX_REPLY_TEXT_LENGTH,
  PLACEHOLDERS,
} from "../../mail/auto-reply/auto-reply.ts";
import { setReply, showReply, turnOffReply } from "../../mail/auto-reply/auto-reply-operations.ts";
import {
  describeLimit,
  limitsOfWorkspace,
  type ReplyLimits,
  replyLimitsOf,
} from "../../mail/auto-reply/reply-limits.ts";
import { readInput } from "../flags/arguments.ts";
import { addNoun, parseFile, refuse } from "../command.ts";
import { ifAllowed } from "../flags/endpoint-label.ts";
import { operationCommand, type Printer } from "../operation-command.ts";
import type { Output } from "../output/output.ts";
import type { Here } from "../output/terminal.ts";
import type { OptionValues } from "../flags/option-values.ts";

export function register(program: Command): void {
  addNoun(program, "autoreply", "An e-mail of yours to whoever posts; off unless you turn it on", [
    showCommand,
    set,
    off,
  ]);
}

const PLACEHOLDER_LIST = PLACEHOLDERS.map((name) => `{${name}}`).join(", ");

const settingOptions = [
  {
    flags: "--text <text>",
    summary: `text of the reply, at most ${MAX_REPLY_TEXT_LENGTH} characters, which may contain ${PLACEHOLDER_LIST}`,
  },
  {
    flags: "--text-file <file>",
    summary: "a file with the text; - reads standard input",
    parse: parseFile,
  },
  {
    flags: "--subject <template>",
    summary: `subject of the reply, at most ${MAX_REPLY_SUBJECT_LENGTH} characters, which may contain the same`,
  },
  {
    flags: "--field <name>",
    summary: "field of format email with the address that gets the reply (default: the only such field)",
  },
  {
    flags: "--reply-to <address>",
    summary:
      "address of a recipient of the endpoint that gets answers to the reply; whoever posts sees this address",
  },
  { flags: "--clear-text", summary: "use the built-in text" },
  { flags: "--clear-subject", summary: "use the built-in subject" },
  { flags: "--clear-reply-to", summary: "let answers go to mail.from" },
] as const;

const showCommand = operationCommand({
  usage: "show <endpoint>",
  operation: showReply,
  input: (_options, [endpoint]) => ({ endpoint }),
  print: printReply,
});

const set = operationCommand({
  usage: "set <endpoint>",
  summary: "Turn on the automatic reply, or change it; what is not given stays as it was",
  notes: `It goes to the address in the post, which may be that of somebody else. Replies to people who never
wrote are called backscatter: they annoy, and get your mail server onto block lists. So a reply has
the name of the endpoint, the reference, the time and your own text, and nothing that was submitted.
It is sent only about a post with a spam score of 25 or less and no filled honeypot: one to an
address in 24 hours; in an hour 20 for an endpoint, 3 for a network of clients and what mail.limits
allows for a workspace; none to addresses of programs like noreply, and never a second time.`,
  options: settingOptions,
  examples: [
    "formsvc autoreply set Contact",
    "formsvc autoreply set Contact --text-file reply.txt --subject 'Thank you for writing to {endpoint}'",
    "formsvc autoreply set Contact --field email --reply-to ada@example.com",
  ],
  operation: setReply,
  input: (options, [endpoint]) => ({ endpoint, ...readChange(options) }),
  print: printReply,
  async note({ output, perform, here }, { auto_reply: reply }) {
    const shown = await ifAllowed(perform(showEndpoint, { endpoint: reply.endpoint_id }));
    noteDangers(output, here, shown?.endpoint.allowed_origins);
  },
});

const off = operationCommand({
  usage: "off <endpoint>",
  operation: turnOffReply,
  input: (_options, [endpoint]) => ({ endpoint }),
  print: printReply,
});

/** @throws usage if a setting is both given and cleared, or is given twice */
function readChange(given: OptionValues<typeof settingOptions>) {
  if (given.text !== null && given.textFile !== null) return refuse("give --text or --text-file, not both");
  if (given.text !== null && namesFile(given.text))
    return refuse(
      `--text is the text itself, and ${given.text} is ${given.text === "-" ? "standard input" : "a file"}: give --text-file ${given.text}`,
    );
  const text = given.textFile === null ? given.text : readInput(given.textFile);
  return {
    ...(given.field !== null && { field: given.field }),
    ...chosen("text", text, given.clearText),
    ...chosen("subject", given.subject, given.clearSubject),
    ...chosen("reply_to", given.replyTo, given.clearReplyTo, "reply-to"),
  };
}

/**
 * Whether a text is most likely meant as a file's name. Without this check, visitors would be sent the name in place of the file's content.
 */
function namesFile(text: string): boolean {
  return text === "-" || (existsSync(text) && statSync(text).isFile());
}

function chosen(name: string, value: string | null, isCleared: boolean, flag = name) {
  if (isCleared && value !== null) return refuse(`give --${flag} or --clear-${flag}, not both`);
  return isCleared || value !== null ? { [name]: value } : {};
}

function noteDangers(output: Output, here: Here | null, origins: readonly string[] | undefined): void {
  if (here?.config.mail.host === null)
    output.note(
      "no mail server is set: nobody gets a reply until mail.host and mail.from are in the configuration",
    );
  if (origins?.length === 0)
    output.note(
      "any page may post to this endpoint; fewer robots do if you list your pages: formsvc endpoint set --allow-origin",
    );
}

async function printReply(
  { output, here }: Printer,
  { auto_reply: reply }: z.output<(typeof showReply)["output"]>,
): Promise<void> {
  if (reply.recipient_id === null)
    return output.table(
      ["AUTOMATIC REPLY", ""],
      [
        ["state", "off"],
        ["endpoint", reply.endpoint_id],
      ],
      "",
    );
  const rows = [
    ["state", reply.on_since === null ? "off" : `on since ${reply.on_since}`],
    ["endpoint", reply.endpoint_id],
    ["id", reply.recipient_id],
    ["field", reply.field ?? ""],
    ["subject", reply.subject ?? "built in"],
    ["text", reply.text ?? "built in"],
    ["answers go to", reply.reply_to ?? "mail.from"],
    ["last sent", reply.last_sent_at ?? ""],
    ["limit reached", await describeReached(reply, here)],
  ];
  return output.table(["AUTOMATIC REPLY", ""], rows, "");
}

/** Describes the limit that was reached. Its value is in the configuration, which is known only on the machine itself. */
async function describeReached(
  { endpoint_id: endpointId, limit_reached: limit }: z.output<(typeof showReply)["output"]>["auto_reply"],
  here: Here | null,
): Promise<string> {
  if (limit === null || here === null) return limit ?? "";
  const { db, config } = here;
  return describeLimit(limit, await db.read(() => limitsOfEndpoint(endpointId, replyLimitsOf(config))));
}

function* limitsOfEndpoint(endpointId: string, limits: ReplyLimits): Steps<ReplyLimits> {
  const endpoint = yield* findEndpoint(endpointId);
  return endpoint === undefined ? limits : yield* limitsOfWorkspace(endpoint.workspaceId, limits);
}
