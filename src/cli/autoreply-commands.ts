import { existsSync, statSync } from "node:fs";
import type { Command } from "commander";
import type { Config } from "../config/config.ts";
import type { Database } from "../database/database.ts";
import { getEndpoint } from "../endpoints/endpoint-store.ts";
import type { Endpoint } from "../endpoints/endpoint.ts";
import { toIsoTime } from "../foundation/clock.ts";
import {
  MAX_REPLY_SUBJECT_LENGTH,
  MAX_REPLY_TEXT_LENGTH,
  PLACEHOLDERS,
} from "../mail/auto-reply/auto-reply.ts";
import { autoReplyJson, type ShownAutoReply } from "../mail/auto-reply/auto-reply-json.ts";
import {
  type AutoReplyChange,
  setAutoReply,
  turnOffAutoReply,
} from "../mail/auto-reply/change-auto-reply.ts";
import { describeLimit, replyLimitsOf } from "../mail/auto-reply/reply-limits.ts";
import { showAutoReply } from "../mail/auto-reply/show-auto-reply.ts";
import { readInput } from "./arguments.ts";
import { addNoun, command, type CommandContext, parseFile, refuse } from "./command.ts";
import { withDatabase } from "./open.ts";
import type { OptionValues } from "./option-values.ts";

export function register(program: Command): void {
  addNoun(program, "autoreply", "An e-mail of yours to whoever posts; off unless you turn it on", [
    showReply,
    set,
    off,
  ]);
}

const PLACEHOLDER_LIST = PLACEHOLDERS.map((name) => `{${name}}`).join(", ");

const settingOptions = [
  {
    flags: "--text <text>",
    summary: `what it says, at most ${MAX_REPLY_TEXT_LENGTH} characters, with ${PLACEHOLDER_LIST} in it`,
  },
  {
    flags: "--text-file <file>",
    summary: "a file with the text; - reads standard input",
    parse: parseFile,
  },
  {
    flags: "--subject <template>",
    summary: `the subject, at most ${MAX_REPLY_SUBJECT_LENGTH} characters, with the same in it`,
  },
  {
    flags: "--field <name>",
    summary: "the field of format email that has the address (default: the only one)",
  },
  {
    flags: "--reply-to <address>",
    summary: "who gets the answers: one of the endpoint's recipients; whoever posts sees the address",
  },
  { flags: "--clear-text", summary: "use the built-in text" },
  { flags: "--clear-subject", summary: "use the built-in subject" },
  { flags: "--clear-reply-to", summary: "let answers go to mail.from" },
] as const;

const showReply = command({
  usage: "show <endpoint>",
  summary: "Show an endpoint's automatic reply",
  action: (context, _options, [reference]) =>
    withDatabase(context, async (db, config) => {
      const endpoint = await db.read(() => getEndpoint(reference));
      await show(context, db, config, endpoint);
    }),
});

const set = command({
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
  action: (context, options, [reference]) =>
    withDatabase(context, async (db, config) => {
      const change = readChange(options);
      const endpoint = await db.read(() => getEndpoint(reference));
      await setAutoReply(db, { endpoint, change, actor: null }, context.clock.now());
      await show(context, db, config, endpoint);
      noteDangers(context, config, endpoint);
    }),
});

const off = command({
  usage: "off <endpoint>",
  summary: "Turn the automatic reply off; what waits is not sent, and the text stays for the next time",
  action: (context, _options, [reference]) =>
    withDatabase(context, async (db, config) => {
      const endpoint = await db.read(() => getEndpoint(reference));
      await turnOffAutoReply(db, endpoint, null, context.clock.now());
      await show(context, db, config, endpoint);
    }),
});

/** @throws usage when a setting is given and cleared, or given twice */
function readChange(given: OptionValues<typeof settingOptions>): AutoReplyChange["change"] {
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
    ...chosen("replyTo", given.replyTo, given.clearReplyTo, "reply-to"),
  };
}

/** Whether somebody most likely means what is in a file, and not its name: visitors would be sent the name. */
function namesFile(text: string): boolean {
  return text === "-" || (existsSync(text) && statSync(text).isFile());
}

function chosen(name: string, value: string | null, isCleared: boolean, flag = name) {
  if (isCleared && value !== null) return refuse(`give --${flag} or --clear-${flag}, not both`);
  return isCleared || value !== null ? { [name]: value } : {};
}

function noteDangers({ output }: CommandContext, { mail }: Config, { settings }: Endpoint): void {
  if (mail.host === null)
    output.note(
      "no mail server is set: nobody gets a reply until mail.host and mail.from are in the configuration",
    );
  if (settings.allowedOrigins.length === 0)
    output.note(
      "any page may post to this endpoint; fewer robots do if you list your pages: formsvc endpoint set --allow-origin",
    );
}

async function show(
  context: CommandContext,
  db: Database,
  config: Config,
  endpoint: Endpoint,
): Promise<void> {
  const now = context.clock.now();
  print(context, await db.read(() => showAutoReply(endpoint, replyLimitsOf(config), now)));
}

function print({ output }: CommandContext, shown: ShownAutoReply): void {
  if (output.isJson) return output.json({ auto_reply: autoReplyJson(shown) });
  const { reply, endpointId, replyTo, limits, fullLimit } = shown;
  if (reply === undefined)
    return output.table(
      ["AUTOMATIC REPLY", ""],
      [
        ["state", "off"],
        ["endpoint", endpointId],
      ],
      "",
    );
  const { settings, onSince, sentAt } = reply;
  const rows = [
    ["state", onSince === null ? "off" : `on since ${toIsoTime(onSince)}`],
    ["endpoint", endpointId],
    ["id", reply.id],
    ["field", settings.field],
    ["subject", settings.subject ?? "built in"],
    ["text", settings.text ?? "built in"],
    ["answers go to", replyTo ?? "mail.from"],
    ["last sent", sentAt === null ? "" : toIsoTime(sentAt)],
    ["limit reached", fullLimit === null ? "" : describeLimit(fullLimit, limits)],
  ];
  return output.table(["AUTOMATIC REPLY", ""], rows, "");
}
