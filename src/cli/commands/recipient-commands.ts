import type { Command } from "commander";
import type { z } from "zod";
import { showEndpoint } from "../../endpoints/endpoint-operations.ts";
import { createRecipient } from "../../mail/recipients/ask-recipient.ts";
import { defaultMailRecipientSettings, DIGESTS } from "../../mail/recipients/mail-recipient.ts";
import { mailRecipientOperations, setRecipient } from "../../mail/recipients/recipient-operations.ts";
import { conditionText } from "../../outbox/queue/conditions.ts";
import { MAX_SPAM_SCORE } from "../../outbox/queue/recipient.ts";
import { parseScore } from "../flags/arguments.ts";
import { addNoun, refuse } from "../command.ts";
import { ifAllowed } from "../flags/endpoint-label.ts";
import { operationCommand, type Printer } from "../operation-command.ts";
import type { Output } from "../output/output.ts";
import { recipientVerbs } from "./recipient-verbs.ts";
import type { Here } from "../output/terminal.ts";
import { readWhen, whenOption } from "../flags/when-option.ts";
import type { OptionValues } from "../flags/option-values.ts";

export function register(program: Command): void {
  addNoun(program, "recipient", "Addresses that get each submission by e-mail", [
    add,
    list,
    show,
    set,
    enable,
    disable,
    remove,
  ]);
}

const settingOptions = [
  {
    flags: "--digest <digest>",
    summary: "how often: an e-mail for each submission, or one summary an hour or a day (default: each)",
    choices: DIGESTS,
  },
  {
    flags: "--max-spam-score <score>",
    summary: `send nothing with a higher spam score, 0 to ${MAX_SPAM_SCORE} (default: ${defaultMailRecipientSettings.maxSpamScore})`,
    parse: parseScore,
  },
  {
    flags: "--language <tag>",
    summary: "language of its e-mails, like de; '' is the language of the endpoint",
  },
  {
    flags: "--subject <template>",
    summary: "subject of its e-mails, which may contain {form} and {name of a field}",
  },
  {
    flags: "--attach",
    summary: "attach the files of a submission to its e-mail, under 5 MB in all; summaries name them only",
  },
  { flags: "--no-attach", summary: "only name the files in its e-mails (default)" },
  whenOption,
] as const;

const add = operationCommand({
  usage: "add <address>",
  summary: "Send an endpoint's submissions to an address, from now on",
  options: [
    { flags: "--endpoint <endpoint>", summary: "the endpoint whose submissions it gets", required: true },
    ...settingOptions,
  ],
  examples: [
    "formsvc recipient add ada@example.com --endpoint Contact",
    "formsvc recipient add team@example.com --endpoint Contact --digest daily --max-spam-score 25",
    "formsvc recipient add sales@example.com --endpoint Contact --when topic=sales",
    "formsvc recipient add jobs@example.com --endpoint Jobs --attach",
    "formsvc recipient add ada@example.com --endpoint Contact --subject '{form}: {name} writes'",
  ],
  operation: createRecipient,
  parts: () => ({ storedLetters: null }),
  input: (options, [address]) => ({ address, endpoint: options.endpoint, ...readSettings(options) }),
  print: ({ output }, { recipient }) => output.line(recipient.id),
  async note({ output, perform, here }, { recipient }) {
    const shown = await ifAllowed(perform(showEndpoint, { endpoint: recipient.endpoint_id }));
    const name = shown?.endpoint.name ?? recipient.endpoint_id;
    output.note(`${recipient.address} gets the submissions of ${name} from now on`);
    noteMissingServer(output, here);
  },
});

const { list, show, enable, disable, remove } = recipientVerbs({
  noun: "recipient",
  operations: mailRecipientOperations,
  maker: "add one with: formsvc recipient add",
  deletes: "remove",
  headings: ["STATE", "DIGEST", "ADDRESS"],
  cellsOf: ({ state, digest, address }) => [state, digest, address],
  referenceTo: (recipient) => ({ recipient }),
  question: ({ recipient }) => `Delete the recipient ${recipient.address} with all its messages?`,
  print: printRecipient,
});

const set = operationCommand({
  usage: "set <recipient>",
  summary: "Change a recipient, for waiting messages too",
  options: [...settingOptions, { flags: "--clear-subject", summary: "use the built-in subject" }],
  examples: ["formsvc recipient set rcpt_01h455vb4pex5vsknk084sn02q --digest hourly"],
  operation: setRecipient,
  input(options, [recipient]) {
    if (options.clearSubject && options.subject !== null)
      return refuse("give --subject or --clear-subject, not both");
    const change = { ...readSettings(options), ...(options.clearSubject && { subject: null }) };
    if (Object.keys(change).length === 0) return refuse("give something to change, like --digest");
    return { recipient, ...change };
  },
  print: printRecipient,
});

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

/** Notes that no mail server is configured: messages wait then, and the person who added the recipient should know. */
function noteMissingServer(output: Output, here: Here | null): void {
  if (here?.config.mail.host === null)
    output.note(
      "no mail server is set: messages wait until mail.host and mail.from are in the configuration",
    );
}

type Shown = z.output<(typeof mailRecipientOperations.show)["output"]>;

function printRecipient({ output }: Printer, { recipient }: Shown): void {
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
  output.table(["RECIPIENT", ""], rows, "");
}

function describeState({ id, state, refusals }: Shown["recipient"]): string {
  if (state === "unconfirmed") return "unconfirmed: it gets nothing until its holder agrees";
  if (state !== "failing") return state;
  return `failing: ${refusals} messages in a row were refused for good; mend it, then: formsvc recipient enable ${id}`;
}
