import type { Command } from "commander";
import type { Config } from "../config/config.ts";
import { getEndpoint } from "../endpoints/endpoint-store.ts";
import { toIsoTime } from "../foundation/clock.ts";
import {
  addMailRecipient,
  changeMailRecipient,
  removeMailRecipient,
  switchMailRecipient,
} from "../mail/change-mail-recipient.ts";
import {
  defaultMailRecipientSettings,
  DIGESTS,
  type MailRecipient,
  type MailRecipientSettings,
} from "../mail/mail-recipient.ts";
import { mailRecipientJson, stateOf } from "../mail/mail-recipient-json.ts";
import { getMailRecipient, listMailRecipients } from "../mail/mail-recipient-store.ts";
import { MAX_SPAM_SCORE } from "../outbox/queue/recipient.ts";
import { confirm, parseScore } from "./arguments.ts";
import { addNoun, command, type CommandContext, refuse } from "./command.ts";
import { labelEndpoints } from "./endpoint-label.ts";
import { withDatabase } from "./open.ts";
import type { OptionValues } from "./option-values.ts";
import { endpointIdOf } from "./submission-filter.ts";

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
    flags: "--subject <template>",
    summary: "the subject, with {endpoint} and {name of a field} in it",
  },
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
    "formsvc recipient add ada@example.com --endpoint Contact --subject '{endpoint}: {name} writes'",
  ],
  action: (context, options, [address]) =>
    withDatabase(context, async (db, config) => {
      const settings = { ...defaultMailRecipientSettings, ...readSettings(options), address };
      const { recipient, name } = await db.transaction(function* () {
        const endpoint = yield* getEndpoint(options.endpoint);
        const made = { endpointId: endpoint.id, settings, isConfirmed: true, actor: null };
        return { recipient: yield* addMailRecipient(made, context.clock.now()), name: endpoint.name };
      });
      if (context.output.isJson) context.output.json({ recipient: mailRecipientJson(recipient) });
      else context.output.line(recipient.id);
      context.output.note(`${recipient.settings.address} gets the submissions of ${name} from now on`);
      noteMissingServer(context, config);
    }),
});

const list = command({
  usage: "list",
  summary: "List recipients",
  options: [{ flags: "--endpoint <endpoint>", summary: "only this endpoint's" }],
  action: (context, options) =>
    withDatabase(context, async (db) => {
      const recipients = await db.read(function* () {
        return yield* listMailRecipients(yield* endpointIdOf(options.endpoint));
      });
      if (context.output.isJson) return context.output.json({ data: recipients.map(mailRecipientJson) });
      const label = await labelEndpoints(
        db,
        recipients.map(({ endpointId }) => endpointId),
      );
      const rows = recipients.map((recipient) => [
        recipient.id,
        label(recipient.endpointId),
        stateOf(recipient),
        recipient.settings.digest,
        recipient.settings.address,
      ]);
      const empty = "no recipients yet; add one with: formsvc recipient add";
      return context.output.table(["ID", "ENDPOINT", "STATE", "DIGEST", "ADDRESS"], rows, empty);
    }),
});

const show = command({
  usage: "show <recipient>",
  summary: "Show a recipient and whether its e-mail arrives",
  action: (context, _options, [id]) =>
    withDatabase(context, async (db) => printRecipient(context, await db.read(() => getMailRecipient(id)))),
});

const set = command({
  usage: "set <recipient>",
  summary: "Change a recipient; messages that wait follow",
  options: [...settingOptions, { flags: "--clear-subject", summary: "use the built-in subject" }],
  examples: ["formsvc recipient set rcpt_01h455vb4pex5vsknk084sn02q --digest hourly"],
  action: (context, options, [id]) =>
    withDatabase(context, async (db) => {
      if (options.clearSubject && options.subject !== null)
        return refuse("give --subject or --clear-subject, not both");
      const change = { ...readSettings(options), ...(options.clearSubject && { subject: null }) };
      if (Object.keys(change).length === 0) return refuse("give something to change, like --digest");
      const changed = await db.transaction(() =>
        changeMailRecipient({ id, change, actor: null }, context.clock.now()),
      );
      return printRecipient(context, changed);
    }),
});

const enable = command({
  usage: "enable <recipient>",
  summary: "Send to a recipient again, held messages first",
  action: (context, _options, [id]) => switchTo(context, id, true),
});

const disable = command({
  usage: "disable <recipient>",
  summary: "Hold a recipient's messages until it is enabled again",
  action: (context, _options, [id]) => switchTo(context, id, false),
});

const remove = command({
  usage: "remove <recipient>",
  summary: "Delete a recipient with all its messages, sent or not",
  options: [{ flags: "--yes", summary: "do it without being asked" }],
  action: (context, options, [id]) =>
    withDatabase(context, async (db) => {
      const { settings } = await db.read(() => getMailRecipient(id));
      await confirm(`Delete the recipient ${settings.address} with all its messages?`, options.yes);
      await removeMailRecipient(db, id, null, context.clock.now());
      if (context.output.isJson) return context.output.json({ deleted: [id] });
      return context.output.note(`deleted: ${id}`);
    }),
});

/** The settings that were given. */
function readSettings({
  digest,
  maxSpamScore,
  subject,
}: OptionValues<typeof settingOptions>): Partial<Omit<MailRecipientSettings, "address">> {
  return {
    ...(digest !== null && { digest }),
    ...(maxSpamScore !== null && { maxSpamScore }),
    ...(subject !== null && { subject }),
  };
}

function switchTo(context: CommandContext, id: string, enabled: boolean): Promise<void> {
  return withDatabase(context, async (db) =>
    printRecipient(context, await switchMailRecipient(db, { id, enabled, actor: null }, context.clock)),
  );
}

/** Messages then wait, and whoever added the recipient should know. */
function noteMissingServer({ output }: CommandContext, { mail }: Config): void {
  if (mail.host === null)
    output.note(
      "no mail server is set: messages wait until mail.host and mail.from are in the configuration",
    );
}

function printRecipient(context: CommandContext, recipient: MailRecipient): void {
  if (context.output.isJson) return context.output.json({ recipient: mailRecipientJson(recipient) });
  const { settings, failingSince, confirmedAt, unsubscribedAt } = recipient;
  const rows = [
    ["id", recipient.id],
    ["endpoint", recipient.endpointId],
    ["address", settings.address],
    ["state", describeState(recipient)],
    ["digest", settings.digest],
    ["subject", settings.subject ?? "built in"],
    ["highest spam score", String(settings.maxSpamScore)],
    ["failing since", failingSince === null ? "" : toIsoTime(failingSince)],
    ["confirmed", confirmedAt === null ? "" : toIsoTime(confirmedAt)],
    ["unsubscribed", unsubscribedAt === null ? "" : toIsoTime(unsubscribedAt)],
    ["created", toIsoTime(recipient.createdAt)],
  ];
  return context.output.table(["RECIPIENT", ""], rows, "");
}

function describeState(recipient: MailRecipient): string {
  const state = stateOf(recipient);
  if (state === "unconfirmed") return "unconfirmed: it gets nothing until its holder agrees";
  if (state !== "failing") return state;
  return `failing: ${recipient.refusals} messages in a row were refused for good; mend it, then: formsvc recipient enable ${recipient.id}`;
}
