import type { Command } from "commander";
import type { z } from "zod";
import { showEndpoint } from "../endpoints/endpoint-operations.ts";
import { createRecipient } from "../mail/ask-recipient.ts";
import { defaultMailRecipientSettings, DIGESTS } from "../mail/mail-recipient.ts";
import {
  deleteRecipient,
  disableRecipient,
  enableRecipient,
  listAllRecipients,
  setRecipient,
  showRecipient,
} from "../mail/recipient-operations.ts";
import { conditionText } from "../outbox/queue/conditions.ts";
import { MAX_SPAM_SCORE } from "../outbox/queue/recipient.ts";
import { confirm, parseScore } from "./arguments.ts";
import { addNoun, command, type CommandContext, refuse } from "./command.ts";
import { ifAllowed, labelEndpoints } from "./endpoint-label.ts";
import { operate } from "./operate.ts";
import type { Here } from "./terminal.ts";
import { readWhen, whenOption } from "./when-option.ts";
import type { OptionValues } from "./option-values.ts";

export function register(program: Command): void {
  const verbs = [add, list, show, set, enable, disable, remove];
  addNoun(program, "recipient", "Addresses that get each submission by e-mail", verbs);
}

const settingOptions = [
  {
    flags: "--digest <digest>",
    summary: "an e-mail for each submission, or one an hour or a day (default: each)",
    choices: DIGESTS,
  },
  {
    flags: "--max-spam-score <score>",
    summary: `send nothing with a higher spam score, 0 to ${MAX_SPAM_SCORE} (default: ${defaultMailRecipientSettings.maxSpamScore})`,
    parse: parseScore,
  },
  {
    flags: "--language <tag>",
    summary: "of its e-mails, like de; '' is the endpoint's",
  },
  {
    flags: "--subject <template>",
    summary: "the subject, with {endpoint} and {name of a field} in it",
  },
  {
    flags: "--attach",
    summary: "attach the files of a submission to its e-mail, under 5 MB in all; summaries name them only",
  },
  { flags: "--no-attach", summary: "name files only (default)" },
  whenOption,
] as const;

const add = command({
  usage: "add <address>",
  summary: "Send an endpoint's submissions to an address, from now on",
  options: [
    { flags: "--endpoint <endpoint>", summary: "whose submissions it gets", required: true },
    ...settingOptions,
  ],
  examples: [
    "formsvc recipient add ada@example.com --endpoint Contact",
    "formsvc recipient add team@example.com --endpoint Contact --digest daily --max-spam-score 25",
    "formsvc recipient add sales@example.com --endpoint Contact --when topic=sales",
    "formsvc recipient add jobs@example.com --endpoint Jobs --attach",
    "formsvc recipient add ada@example.com --endpoint Contact --subject '{endpoint}: {name} writes'",
  ],
  action: (context, options, [address]) =>
    operate(context, async ({ perform, here }) => {
      const input = { address, endpoint: options.endpoint, ...readSettings(options) };
      const created = await perform(createRecipient, input, () => ({ storedLetters: null }));
      const { recipient } = created;
      if (context.output.isJson) context.output.json(created);
      else context.output.line(recipient.id);
      const shown = await ifAllowed(perform(showEndpoint, { endpoint: recipient.endpoint_id }));
      const name = shown?.endpoint.name ?? recipient.endpoint_id;
      context.output.note(`${recipient.address} gets the submissions of ${name} from now on`);
      noteMissingServer(context, here);
    }),
});

const list = command({
  usage: "list",
  summary: "List recipients",
  options: [{ flags: "--endpoint <endpoint>", summary: "only this endpoint's" }],
  action: (context, { endpoint }) =>
    operate(context, async ({ perform }) => {
      const listed = await perform(listAllRecipients, { endpoint });
      if (context.output.isJson) return context.output.json(listed);
      const { data } = listed;
      const label = await labelEndpoints(perform);
      const rows = data.map((recipient) => [
        recipient.id,
        label(recipient.endpoint_id),
        recipient.state,
        recipient.digest,
        recipient.address,
      ]);
      const empty = "no recipients yet; add one with: formsvc recipient add";
      return context.output.table(["ID", "ENDPOINT", "STATE", "DIGEST", "ADDRESS"], rows, empty);
    }),
});

const show = command({
  usage: "show <recipient>",
  summary: "Show a recipient and whether its e-mail arrives",
  action: (context, _options, [id]) =>
    operate(context, async ({ perform }) =>
      printRecipient(context, await perform(showRecipient, { recipient: id })),
    ),
});

const set = command({
  usage: "set <recipient>",
  summary: "Change a recipient; messages that wait follow",
  options: [...settingOptions, { flags: "--clear-subject", summary: "use the built-in subject" }],
  examples: ["formsvc recipient set rcpt_01h455vb4pex5vsknk084sn02q --digest hourly"],
  action: (context, options, [id]) =>
    operate(context, async ({ perform }) => {
      if (options.clearSubject && options.subject !== null)
        return refuse("give --subject or --clear-subject, not both");
      const change = { ...readSettings(options), ...(options.clearSubject && { subject: null }) };
      if (Object.keys(change).length === 0) return refuse("give something to change, like --digest");
      return printRecipient(context, await perform(setRecipient, { recipient: id, ...change }));
    }),
});

const enable = command({
  usage: "enable <recipient>",
  summary: "Send to a recipient again, held messages first",
  action: (context, _options, [id]) => switchTo(context, enableRecipient, id),
});

const disable = command({
  usage: "disable <recipient>",
  summary: "Hold a recipient's messages until it is enabled again",
  action: (context, _options, [id]) => switchTo(context, disableRecipient, id),
});

const remove = command({
  usage: "remove <recipient>",
  summary: "Delete a recipient with all its messages, sent or not",
  options: [{ flags: "--yes", summary: "do it without being asked" }],
  action: (context, options, [id]) =>
    operate(context, async ({ perform }) => {
      const { recipient } = await perform(showRecipient, { recipient: id });
      await confirm(`Delete the recipient ${recipient.address} with all its messages?`, options.yes);
      const deleted = await perform(deleteRecipient, { recipient: id });
      if (context.output.isJson) return context.output.json(deleted);
      return context.output.note(`deleted: ${id}`);
    }),
});

/** The settings that were given. */
function readSettings({
  digest,
  language,
  maxSpamScore,
  subject,
  attach,
  when,
}: OptionValues<typeof settingOptions>) {
  return {
    ...(digest !== null && { digest }),
    ...(language !== null && { language: language || null }),
    ...(maxSpamScore !== null && { max_spam_score: maxSpamScore }),
    ...(subject !== null && { subject }),
    ...(attach !== null && { attach }),
    ...readWhen(when),
  };
}

function switchTo(context: CommandContext, operation: typeof enableRecipient, id: string): Promise<void> {
  return operate(context, async ({ perform }) =>
    printRecipient(context, await perform(operation, { recipient: id })),
  );
}

/** Messages then wait, and whoever added the recipient should know. */
function noteMissingServer({ output }: CommandContext, here: Here | null): void {
  if (here?.config.mail.host === null)
    output.note(
      "no mail server is set: messages wait until mail.host and mail.from are in the configuration",
    );
}

type Shown = z.output<(typeof showRecipient)["output"]>;

function printRecipient({ output }: CommandContext, shown: Shown): void {
  if (output.isJson) return output.json(shown);
  const { recipient } = shown;
  const rows = [
    ["id", recipient.id],
    ["endpoint", recipient.endpoint_id],
    ["address", recipient.address],
    ["state", describeState(recipient)],
    ["digest", recipient.digest],
    ["language", recipient.language ?? "the endpoint's"],
    ["subject", recipient.subject ?? "built in"],
    ["files", recipient.attach ? "attached, under 5 MB in all" : "named"],
    ["highest spam score", String(recipient.max_spam_score)],
    ...recipient.conditions.map((condition) => ["only if", conditionText(condition)]),
    ["failing since", recipient.failing_since ?? ""],
    ["confirmed", recipient.confirmed_at ?? ""],
    ["unsubscribed", recipient.unsubscribed_at ?? ""],
    ["created", recipient.created_at],
  ];
  return output.table(["RECIPIENT", ""], rows, "");
}

function describeState({ id, state, refusals }: Shown["recipient"]): string {
  if (state === "unconfirmed") return "unconfirmed: it gets nothing until its holder agrees";
  if (state !== "failing") return state;
  return `failing: ${refusals} messages in a row were refused for good; mend it, then: formsvc recipient enable ${id}`;
}
